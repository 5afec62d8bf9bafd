"""An algorithm's firmware: emitted, compiled, run on its vectors, told from an edited one, refused by devices."""

import subprocess
from pathlib import Path

import pytest

from codegen.algorithm_body import emit_algorithm
from codegen.differences import differences
from codegen.emit import Emission
from codegen.targets import BARE, TARGETS, unserved
from decision.artefact.documents import load_json
from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_rate import FLOW_RATE, WINDOWED, flow_interface
from decision.ir.interfaces.flow_window import FLOW_WINDOW, FLOW_WINDOW_NSCC
from decision.policy.algorithm import load_algorithm
from decision.policy.deciders import load_decider, load_pupil
from netsim import simulate
from netsim.network import MS
from rlcc.commands.emit import command
from rlcc.policies import by_path

ROOT = Path(__file__).resolve().parents[2]
SCALED = flow_interface(WINDOWED[0])
SHIPPED = ROOT / "docs" / "window" / "nscc.toml"


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("algorithm") / "firmware"
    command.main([str(SHIPPED), "--out", str(out)], standalone_mode=False)
    return out


def test_its_c_computes_the_vectors_which_show_its_choices_both_ways(firmware: Path) -> None:
    sides = load_json(firmware / "manifest.json")["details"]["sides"]
    assert sides["hit"] >= sides["wanted"] - 2
    done = subprocess.run(
        ["make", "-f", "rlcc_policy.mk", "check"], cwd=firmware, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_it_is_the_decider_of_its_folder_and_no_pupil_of_a_network(firmware: Path) -> None:
    assert load_decider(firmware) == load_algorithm(SHIPPED)
    with pytest.raises(InputError, match="hand-written algorithm"):
        load_pupil(firmware)


def test_its_c_decides_in_a_network_as_its_program_does(firmware: Path) -> None:
    found = []
    for path in (firmware, SHIPPED):
        with by_path(path) as named:
            found.append(
                simulate("many-to-one:4", named.policy, seed=1, duration_ps=MS, window_ps=(0, MS), record=True)
            )
    records = [result.records for result in found]
    assert len(records[0]["window_bytes"]) > 10_000
    assert all((records[0][name] == records[1][name]).all() for name in records[0])
    assert found[0].metrics == found[1].metrics


def test_it_has_no_trees_to_be_timed(firmware: Path) -> None:
    assert (firmware / "rlcc_policy.c").is_file()
    assert not (firmware / "trees_only.c").exists()


def test_it_is_emitted_again_byte_for_byte_and_an_edited_setting_is_seen(firmware: Path) -> None:
    assert differences(firmware) == []
    algorithm = load_algorithm(SHIPPED).model_copy(update={"fair_step": 6.0})
    assert "rlcc_policy.h" in differences(firmware, algorithm)


@pytest.mark.parametrize("interface", [FLOW_WINDOW, FLOW_WINDOW_NSCC, SCALED], ids=lambda i: i.name)
def test_devices_that_set_a_rate_serve_no_window(interface: object) -> None:
    for target in TARGETS.values():
        assert unserved(target, FLOW_RATE) is None
        assert unserved(target, interface) is not None
    assert unserved(BARE, interface) is None


def test_a_device_that_sets_a_rate_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="connectx6dx"):
        emit_algorithm(SHIPPED, tmp_path / "out", Emission("connectx6dx"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--grid", "--policy"])
def test_options_of_model_files_are_refused(tmp_path: Path, option: str) -> None:
    with pytest.raises(InputError, match=option):
        command.main([str(SHIPPED), option, str(SHIPPED), "--out", str(tmp_path / "out")], standalone_mode=False)

"""`rlcc evaluate` with an emulated core in the loop, and with engines that decisions wait for.

Slow: engines in every table.
"""

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from emulator.profile import load_profile
from netsim import Engines, Simulation
from netsim.network import MS
from rlcc import cli, core_policy
from rlcc.core_policy import CoreName, CorePolicy, core_name
from rlcc.evaluation import contenders
from rlcc.evaluation.grid import Cell, Times, trial
from rlcc.policies import by_path, on_core

SHORT = ("--scenario", "many-to-one:2x4", "--duration", "4 ms")


@pytest.fixture(scope="module")
def firmware(good: Path) -> Path:
    return good / "firmware"


@pytest.mark.parametrize(
    ("text", "core"),
    [
        ("ibex-small", CoreName("ibex-small")),
        ("rtl:picorv32", CoreName("picorv32", "rtl")),
        ("mine/engine.toml", CoreName("mine/engine.toml")),
        ("rtl:unheard-of", CoreName("unheard-of", "rtl")),
        ("450us", None),
        ("fast", None),
    ],
)
def test_what_names_a_core(text: str, core: CoreName | None) -> None:
    assert core_name(text) == core
    assert core is None or str(core) == text


def test_a_core_behind_the_policy() -> None:
    found = contenders.parse("tree=some/where@rtl:ibex-small")
    assert found == contenders.Argument("tree", "some/where", None, CoreName("ibex-small", "rtl"))


def test_the_core_decides_as_the_compiled_c_does_and_takes_its_cycles(firmware: Path) -> None:
    """With an engine a flow, decision times apart: the rates of the first decisions are the same."""
    core = on_core(firmware, CoreName("ibex-small"))
    clock = load_profile("ibex-small").clock.mhz
    run = Simulation("many-to-one:2x4", core.policy, seed=1, record=True)
    run.run(4 * MS)
    records = run.drain_records()
    decisions, cycles = records["flow"].size, run._policy.cycles
    assert decisions > 500
    assert run.metrics()["engine_service_mean_us"] == pytest.approx(cycles / decisions / clock, rel=1e-5)
    with by_path(firmware) as named:
        same = Simulation(
            "many-to-one:2x4",
            named.policy,
            seed=1,
            record=True,
            decision_latency_ps=round(cycles / decisions / clock * 1e6),
        )
        same.run(4 * MS)
    compiled = same.drain_records()
    for name in ("flow", "request_sent_ns", "response_ns", "sent_bytes", "rate_q30", "action_q16"):
        assert (compiled[name][:8] == records[name][:8]).all(), name
    assert abs(compiled["flow"].size - decisions) < 0.02 * decisions


def test_the_fast_path_drives_the_network_as_the_rtl_does(firmware: Path) -> None:
    """To the picosecond and the last bit of every record."""
    records = []
    for how in ("fast", "rtl"):
        policy = on_core(firmware, CoreName("ibex-small", how)).policy  # type: ignore[arg-type]
        run = Simulation("many-to-one:2x4", policy, seed=5, engines=Engines(1), record=True)
        run.run(2 * MS)
        records.append(run.drain_records())
    assert records[0]["flow"].size > 100
    for name, column in records[0].items():
        assert column.tobytes() == records[1][name].tobytes(), name


def test_a_policy_on_a_core_travels_to_other_processes(firmware: Path) -> None:
    policy = on_core(firmware, CoreName("ibex-small")).policy
    assert pickle.loads(pickle.dumps(policy)) == policy


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("FIRMWARE@picorv32", "use its RTL: @rtl:picorv32"),
        ("FIRMWARE@rtl:unheard-of", "no engine profile 'unheard-of'"),
        ("FIRMWARE@fast", "engine profile, rtl:"),
        ("TEACHER@ibex-small", "core runs firmware"),
        ("hpcc@ibex-small", "hpcc is a"),
    ],
)
def test_what_a_core_cannot_run_is_told(good: Path, refused: Any, policy: str, words: str) -> None:
    text = policy.replace("FIRMWARE", str(good / "firmware")).replace("TEACHER", str(good / "teacher"))
    assert words in refused("evaluate", text, *SHORT)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--overload", "drop"), "say with --engines"),
        (("--engine-queue", "4"), "say with --engines"),
        (("--engines", "2", "--overload", "drop"), "how many may"),
        (("--engines", "2", "--engine-queue", "4"), "has no depth"),
    ],
)
def test_contradictory_engines_are_told(good: Path, refused: Any, options: tuple[str, ...], words: str) -> None:
    assert words in refused("evaluate", good / "teacher", *SHORT, *options)


@pytest.mark.parametrize(("option", "value"), [("--engines", 0), ("--engines", 65_537), ("--engine-queue", -1)])
def test_numbers_outside_the_models_limits_are_refused(
    good: Path, capsys: pytest.CaptureFixture[str], option: str, value: int
) -> None:
    assert cli.main(["evaluate", str(good / "teacher"), option, str(value)]) == 2
    sentence = capsys.readouterr().err.splitlines()[-1]
    assert all(word in sentence for word in (option, str(value), "<=x<="))


@pytest.mark.slow
def test_engines_stand_in_table_json_and_parquet(good: Path, evaluate: Any, tmp_path: Path) -> None:
    policies = (f"core={good}/firmware@ibex-small", f"slow={good}/teacher@100us", "hpcc")
    engines = ("--engines", 1, "--overload", "drop", "--engine-queue", 0)
    out = evaluate(*policies, *SHORT, *engines, "--out", tmp_path / "o", "--json", tmp_path / "m.json")
    lines = out.splitlines()
    assert "engine busy" in lines[-4]
    assert "ibex-small  1, drop, queue 0" in lines[-3]
    assert "100 us  1, drop, queue 0" in lines[-2]
    found = {outcome["policy"]: outcome for outcome in json.loads((tmp_path / "m.json").read_text())}
    on = {"engines": 1, "overload": "drop", "engine_queue": 0}
    assert {k: found["core"][k] for k in ("core", *on)} == {"core": "ibex-small", **on}
    assert {k: found["slow"][k] for k in ("core", *on)} == {"core": None, **on}
    assert {found["hpcc"][k] for k in ("core", *on)} == {None}
    assert found["slow"]["metrics"][0]["engine_dropped"] > 0
    assert found["slow"]["metrics"][0]["engine_utilisation"] > 0.5
    assert 0 < found["core"]["metrics"][0]["engine_utilisation"] < 0.2
    rows = pq.read_table(tmp_path / "o/evaluation/runs.parquet").to_pylist()
    assert [(r["core"], r["engines"], r["overload"], r["engine_queue"]) for r in rows] == [
        ("ibex-small", 1, "drop", 0),
        (None, 1, "drop", 0),
        (None, None, None, None),
    ]
    # What is finished is kept, and other engines are other runs.
    kept = ("--out", tmp_path / "o", "--no-pictures", "--jobs", 1)
    again = evaluate(*policies, *SHORT, *engines, *kept)
    assert again.splitlines()[-3:] == lines[-3:]
    assert len(list((tmp_path / "o/finished-runs").iterdir())) == 3
    evaluate(*policies, *SHORT, "--engines", 2, *kept)
    assert len(list((tmp_path / "o/finished-runs").iterdir())) == 5


def test_the_key_covers_core_and_engines(firmware: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{firmware}@ibex-small"
    with contenders.opened([text], decision_latency_ps=None, profile="ibex-small", engines=Engines(2)) as (found,):
        policy = found.policy
    assert isinstance(policy, CorePolicy)

    def key(**changed: Any) -> str:
        cell = Cell("many-to-one:2", "many-to-one:2", Times(4 * MS, (MS, 3 * MS)))
        return trial(replace(found, **changed), cell, 7).key()

    others: list[dict[str, Any]] = [
        {"engines": None},
        {"engines": Engines(3)},
        {"engines": Engines(2, "coalesce")},
        {"engines": Engines(2, "coalesce", 1)},
        {"policy": replace(policy, on=CoreName("ibex-small", "rtl"))},
        {"policy": replace(policy, on=CoreName("ibex-maxperf"))},
        {"policy": replace(policy, hash="0" * 64)},
    ]
    keys = {key(), *(key(**changed) for changed in others)}
    assert len(keys) == 1 + len(others)
    assert key(label="another") == key()
    with monkeypatch.context() as changed:
        changed.setattr(core_policy, "emulator_hash", lambda: "another build")
        assert key() not in keys
    tool = replace(core_policy.find_compiler("clang", "rv32im"), version="clang of another day")
    monkeypatch.setattr(core_policy, "find_compiler", lambda *_: tool)
    assert key() not in keys

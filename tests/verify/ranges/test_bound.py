"""Firmware bounded: networks, which no proof of equality reaches; and that a mistake in the C is not bounded away."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drawn_teachers import LSTM, MLP, choosing, drawn, emission
from options_by_hand import linked

from codegen.networks.body import emit_network
from decision.artefact.errors import InputError
from emulator.build import Build, build
from emulator.compile import find_gcc, toolchain
from emulator.firmware import ENTRY, argument_blocks
from emulator.firmware_folder import read_firmware
from emulator.vectors import vectors_of
from verify.code.failures import Failure
from verify.ranges.bound import Bound, bounded
from verify.trusted.costs import cycle_model
from verify.trusted.execute import Simulator

COMPILERS = ("clang", "gcc")
CLAMPED = {
    "mlp": ("rlcc_scaled(sum, output_scale[0]), -32767, 32767", "rlcc_scaled(sum, output_scale[0]), -40000, 40000"),
    "lstm": ("rlcc_tanh(rlcc_clamped(c, -32767, 32767))", "rlcc_tanh(rlcc_clamped(c * 20, -655340, 655340))"),
}
"""What keeps an index within its table, and what does not."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("bounded")
    for name, teacher in (("mlp", drawn(MLP)), ("lstm", drawn(LSTM)), ("choice", choosing())):
        emit_network(
            teacher.quantised(), "cd" * 32, place / name, emission(target="bare" if name == "choice" else "generic")
        )
    return {name: place / name for name in ("mlp", "lstm", "choice")}


def of(folder: Path, compiler: str = "clang", profile: str = "ibex-small") -> Build:
    if compiler == "gcc" and find_gcc() is None:
        pytest.fail("the RISC-V gcc is not installed: requirements/test-tools.sh")
    return build(read_firmware(folder), toolchain(profile, compiler, "-O2"))


@pytest.mark.slow_except(
    "mlp-ibex-small-gcc",
    "mlp-ibex-maxperf-clang",
    "lstm-ibex-small-gcc",
    "lstm-ibex-maxperf-clang",
    "choice-ibex-small-gcc",
    "choice-ibex-maxperf-clang",
)
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("profile", ["ibex-small", "ibex-maxperf"])
@pytest.mark.parametrize("name", ["mlp", "lstm", "choice"])
def test_no_vector_takes_longer_and_the_bound_is_near(
    folders: dict[str, Path], name: str, compiler: str, profile: str
) -> None:
    made = of(folders[name], compiler, profile)
    found = bounded(made)
    assert isinstance(found, Bound), found
    blocks, records = argument_blocks(made.firmware.layouts), vectors_of(made.firmware).records
    simulator = Simulator(made.image, ENTRY, made.engine, blocks, cycle_model(made.engine))
    rows = np.linspace(0, len(vectors_of(made.firmware)) - 1, 60).astype(int)
    runs = [simulator.call([records[block.name][row].tobytes() for block in blocks]) for row in rows]
    slowest = max(run.cycles for run in runs)
    assert slowest <= found.cycles <= 1.05 * slowest
    assert found.stack_bytes == max(run.stack_bytes for run in runs)


@pytest.mark.parametrize("name", sorted(CLAMPED))
def test_an_index_that_may_leave_its_table_is_not_bounded(folders: dict[str, Path], name: str, tmp_path: Path) -> None:
    right, wrong = CLAMPED[name]
    found = bounded(edited(folders[name], {right: wrong}, tmp_path))
    assert isinstance(found, Failure)
    assert found.kind in ("load-outside", "load-address")


def test_a_loop_that_an_input_keeps_going_is_not_bounded(folders: dict[str, Path], tmp_path: Path) -> None:
    collatz = (
        "    for (uint32_t n = event->response_ns; n > 1U; n = ((n & 1U) != 0U) ? (3U * n) + 1U : n >> 1U) {\n"
        "        flow->rate_q30 += 1U;\n    }\n\n    return rate_q20;"
    )
    found = bounded(edited(folders["mlp"], {"    return rate_q20;": collatz}, tmp_path))
    assert isinstance(found, Failure)
    assert found.kind in ("loop", "too-large")


def edited(folder: Path, edits: dict[str, str], place: Path) -> Build:
    """The firmware with other text in its C, each once."""
    made = of(folder)
    source = (folder / "rlcc_policy.c").read_text()
    for before, after in edits.items():
        assert source.count(before) == 1, before
        source = source.replace(before, after)
    return replace(made, linked=linked(made.firmware, source, place))


def test_an_engine_without_a_model_is_told(folders: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="cycles"):
        bounded(of(folders["mlp"], profile="vexriscv"))

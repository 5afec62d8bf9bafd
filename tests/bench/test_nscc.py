"""The comparison of NSCC with its two references: figures are counted, and a wrong program or rule shows."""

from dataclasses import replace

import pytest

from bench.nscc import exact
from bench.nscc.compare import NsccComparison, compare
from bench.nscc.events import trajectory
from bench.nscc.exact import ExactFlow, Numbers
from bench.nscc.floats import FloatFlow
from decision.ir.program import Op, Program
from decision.policy.nscc import NsccPath, NsccSteps, nscc_params, nscc_program

PROGRAM = nscc_program()
PARAMS = nscc_params(NsccPath(4096, 100 * 10**9, 12_000), NsccSteps())
TRAJECTORIES = [list(trajectory(seed, Numbers.of(PARAMS), 1500)) for seed in range(2)]
BRANCHES = {
    "adapts", "adjusts", "cut", "fair", "fast", "late, marked", "loses", "proportional", "skips", "steady",
}  # fmt: skip


def compared(program: Program = PROGRAM) -> NsccComparison:
    return compare(program, PARAMS, TRAJECTORIES)


def test_every_rule_is_met_and_the_program_is_the_exact_reference_to_the_bit() -> None:
    figures = compared()
    assert figures.events == 3000
    assert figures.unequal == 0
    assert set(figures.branches) == BRANCHES
    assert min(figures.branches.values()) > 10


def test_floats_stay_near_and_are_not_equal() -> None:
    figures = compared()
    assert max(figures.off) > 0
    assert sorted(figures.off)[len(figures.off) // 2] < 0.01


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GAIN", exact.GAIN * 2),
        ("GAMMA", exact.GAMMA / 2),
        ("LARGEST_CUT", exact.LARGEST_CUT / 64),
        ("FAST_DELAY", 100),
        ("MOST_ACKED", 4096),
        ("MOST_LOST", 4096),
        ("PENDING_UNIT", 2**16),
        ("GROWTH_UNIT", 2**10),
        ("WINDOW_UNIT", 2**12),
        ("MOST_GROWTH", 2**2),
        ("SETTLED", 2**14),
    ],
)
def test_a_rule_of_the_reference_that_is_changed_is_noticed(
    monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    monkeypatch.setattr(exact, name, value)
    assert differs(PROGRAM)


def off_at(network: NsccPath, seed: int, share: float) -> float:
    """Difference of the exact reference from the floats that this share of a trajectory's events stays within."""
    numbers, flow, floats, off = Numbers.of(nscc_params(network, NsccSteps())), ExactFlow(), FloatFlow(), []
    for event in trajectory(seed, numbers, 3000):
        flow, window = exact.decide(flow, event, numbers), floats.decide(event, numbers)
        off.append(abs(float(flow.window) - window) / window)
    return sorted(off)[int(share * (len(off) - 1))]


@pytest.mark.parametrize(
    ("changed", "network", "seed", "share"),
    [
        ({"GROWTH_UNIT": 1, "MOST_GROWTH": 2**17}, NsccPath(1024, 25 * 10**9, 8_000), 0, 0.99),
        ({"MOST_GROWTH": 2**30}, NsccPath(4096, 100 * 10**9, 80_000), 0, 1.0),
    ],
)
def test_the_formats_that_the_page_names_make_the_differences(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, int], network: NsccPath, seed: int, share: float
) -> None:
    before = off_at(network, seed, share)
    for name, value in changed.items():
        monkeypatch.setattr(exact, name, value)
    assert off_at(network, seed, share) < before / 4


def differs(program: Program) -> bool:
    """Also where the reference leaves the formats of the firmware."""
    try:
        return any(compare(program, PARAMS, [events]).unequal for events in TRAJECTORIES)
    except (AssertionError, ValueError):
        return True


CHOICES = [
    n
    for n, node in enumerate(PROGRAM.nodes)
    if node.op is Op.SELECT and node.name and not node.name.startswith(("remainder", "quotient"))
]
"""Without the steps of divisions, whose upper bits few events reach."""


@pytest.mark.parametrize("number", CHOICES, ids=lambda n: f"{n}-{PROGRAM.nodes[n].name}")
def test_a_choice_of_the_program_that_is_turned_round_is_noticed(number: int) -> None:
    node = PROGRAM.nodes[number]
    turned = replace(node, args=(node.args[0], node.args[2], node.args[1]))
    nodes = (*PROGRAM.nodes[:number], turned, *PROGRAM.nodes[number + 1 :])
    assert differs(replace(PROGRAM, nodes=nodes))

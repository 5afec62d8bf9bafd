"""The gate's networks are simulated ahead where the gate will simulate them, and not beyond the block's end."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from made_reports import report

from decision.artefact.errors import InputError
from decision.policy.student import Student
from netsim.places import InThisThread, Threads, at_place, current_place
from rlcc.gate import networks_ahead
from rlcc.gate.closed_loop import PolicyMetrics
from rlcc.gate.gate import decision_latency_ps
from rlcc.gate.job import Evidence, Job, Pair
from rlcc.gate.networks_ahead import Stopped, simulated_ahead
from rlcc.recipe import Recipe

METRICS = [PolicyMetrics("teacher", "many-to-one:2", (3,), ({"goodput": 0.9},))]
TEACHER = Path("teacher")
Simulate = Callable[[Job, Pair, int], list[PolicyMetrics]]


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    program = SimpleNamespace(network=None)
    monkeypatch.setattr(networks_ahead, "checked_program", lambda manifest: (object.__new__(Student), program))
    return program


@pytest.fixture
def simulating(monkeypatch: pytest.MonkeyPatch) -> Callable[[Simulate], None]:
    return lambda simulate: monkeypatch.setattr(networks_ahead, "in_networks", simulate)


def evidence(**changed: Any) -> Evidence:
    build = cast(Any, SimpleNamespace(firmware=SimpleNamespace(manifest=None)))
    return replace(Evidence(build=build, emulation=report(), teacher=cast(Any, SimpleNamespace())), **changed)


def ahead(given: Evidence) -> Any:
    return simulated_ahead(given, TEACHER, cast(Recipe, SimpleNamespace(emulate=None, gate=None)))


def test_the_block_goes_on_while_other_processors_simulate(
    program: SimpleNamespace, simulating: Callable[[Simulate], None]
) -> None:
    proved, said, asked = threading.Event(), list[str](), list[Any]()

    def simulate(job: Job, pair: Pair, latency_ps: int) -> list[PolicyMetrics]:
        assert proved.wait(60)
        asked.append((job.program, pair.file, latency_ps, current_place()))
        job.say("1 of 2 runs")
        return METRICS

    simulating(simulate)
    with at_place(Threads(3)), ahead(evidence()) as given:
        proved.set()
        assert given.networks(said.append) == METRICS
        assert current_place() == Threads(3)
    assert asked == [(program, TEACHER, decision_latency_ps(report()), Threads(2))]
    assert set(said) <= {"networks", "1 of 2 runs"}


def test_its_error_is_the_gates(program: SimpleNamespace, simulating: Callable[[Simulate], None]) -> None:
    def simulate(*_: Any) -> list[PolicyMetrics]:
        raise InputError("no such scenario")

    simulating(simulate)
    with at_place(Threads(2)), ahead(evidence()) as given, pytest.raises(InputError, match="no such scenario"):
        given.networks(lambda text: None)


def test_no_simulation_begins_after_the_block(program: SimpleNamespace, simulating: Callable[[Simulate], None]) -> None:
    ended, stopped = threading.Event(), threading.Event()

    def simulate(job: Job, *_: Any) -> list[PolicyMetrics]:
        job.say("0 of 2 runs")
        assert ended.wait(60)
        try:
            job.say("1 of 2 runs")  # as netsim.trials does between two
        except Stopped:
            stopped.set()
        return METRICS

    simulating(simulate)
    with at_place(Threads(2)), ahead(evidence()):
        pass
    ended.set()
    assert stopped.wait(60)


@pytest.mark.parametrize(
    "changed",
    [
        {"build": None},
        {"teacher": None},
        {"emulation": None},
        {"emulation": report(mismatches=1)},
        {"emulation": report(fault="trap")},
        {"emulation": report(cycles=None)},
    ],
    ids=str,
)
def test_nothing_is_simulated_where_the_gate_would_not(
    changed: dict[str, Any], program: SimpleNamespace, simulating: Callable[[Simulate], None]
) -> None:
    simulating(lambda *_: pytest.fail("simulated"))
    given = evidence(**changed)
    with at_place(Threads(2)), ahead(given) as same:
        assert same is given


def test_the_c_of_a_network_is_left_to_the_gate(
    program: SimpleNamespace, simulating: Callable[[Simulate], None]
) -> None:
    simulating(lambda *_: pytest.fail("simulated"))
    program.network = object()
    with at_place(Threads(2)), ahead(evidence()) as given:
        assert given.networks is None


@pytest.mark.parametrize("place", [InThisThread(), Threads(1)], ids=["in this thread", "one thread"])
def test_one_processor_is_the_proofs(
    place: Any, program: SimpleNamespace, simulating: Callable[[Simulate], None]
) -> None:
    simulating(lambda *_: pytest.fail("simulated"))
    with at_place(place), ahead(evidence()) as given:
        assert given.networks is None

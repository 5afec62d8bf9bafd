"""The distance of the program's actions from its teacher's: which decisions count, and what each is compared with."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from decision.artefact.errors import InputError
from decision.ir.forest import Forest
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, ProgramBuilder
from distill import rollout
from rlcc.gate import checks, teacher_match
from rlcc.gate.teacher_match import Errors, actions, compare, given_rollouts, own_rollouts
from rlcc.recipe import Match

OF_FLOWS: Any = SimpleNamespace(agents=FLOW_RATE)
TEACHER: Any = SimpleNamespace(policy=SimpleNamespace(action=None, trigger=None))


def states(seen: list[bool]) -> Any:
    own = np.ones(len(seen), bool)  # steps that a policy made
    return SimpleNamespace(
        integer_rows=lambda observation, params: (None, np.array(seen)), of_policy=lambda: own, network=""
    )


def test_only_decisions_whose_history_both_have_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Known to the teacher, seen by the program: either may lack what the other has (windows differ)."""
    runs = [states([True, True, False, False]), states([True, True, True, True])]
    known = [np.array([True, False, True, False]), np.array([True, True, False, True])]
    knobs = np.full((4, 1), 1.5)
    wanted = iter(zip([knobs] * 2, known, strict=True))
    monkeypatch.setattr(teacher_match, "decide", lambda teacher, run: next(wanted))
    own = iter([np.array([[0.25], [7.0], [8.0], [9.0]]), np.array([[0.5], [0.75], [7.0], [0.5]])])
    monkeypatch.setattr(teacher_match, "actions", lambda *_: next(own))
    found = compare(None, OF_FLOWS, {}, TEACHER, runs, "rollouts of the test")  # type: ignore[arg-type]
    assert found == Errors(
        "rollouts of the test",
        decisions=4,
        rmse=0.25,
        p99=0.25,
        maximum=0.25,
    )


def test_steps_that_a_phase_made_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    run = states([True, True])
    run.of_policy = lambda: np.array([False, True])
    monkeypatch.setattr(teacher_match, "decide", lambda *_: (np.ones((2, 1)), np.ones(2, bool)))
    monkeypatch.setattr(teacher_match, "actions", lambda *_: np.array([[9.0], [0.5]]))
    found = compare(None, OF_FLOWS, {}, TEACHER, [run], "it")  # type: ignore[arg-type]
    assert (found.decisions, found.maximum) == (1, 0.5)


def test_each_is_asked_about_its_own_run(monkeypatch: pytest.MonkeyPatch) -> None:
    run = states([True])
    asked: list[Any] = []
    monkeypatch.setattr(
        teacher_match, "decide", lambda *given: asked.append(given) or (np.ones((1, 1)), np.ones(1, bool))
    )
    monkeypatch.setattr(teacher_match, "actions", lambda *given: asked.append(given) or np.zeros((1, 1)))
    program, observation, teacher = object(), OF_FLOWS, TEACHER
    found = compare(program, observation, {"a": 1}, teacher, [run], "it")  # type: ignore[arg-type]
    assert asked == [(teacher, run), (program, observation, {"a": 1}, run, None)]
    assert found.maximum == 0


def test_a_program_acts_on_the_recorded_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rate comes from the record, where line rate is 2^30, which no context holds; all other fields of the context
    from the features of the same name."""
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    rate, before = b.state_in("rate_q30", "uint32"), b.state_in("action_1", "int16")
    event = b.event(FLOW_RATE.event_names[1])
    shifted = b.add(Op.SHL, (event,), 4)
    coarse = b.add(Op.SHR, (rate,), 10)
    total = b.add(Op.ADD, (b.add(Op.ADD, (shifted, before)), coarse))
    multiplier = b.add(Op.ADD, (total, b.param("rate_max_q30")))
    scaled = b.add(Op.MUL_SHR, (coarse, b.add(Op.MAX, (multiplier, b.const(0)))), 16)
    b.state_out("rate_q30", b.add(Op.MIN, (scaled, b.const(2**32 - 1))))
    b.state_out("action_1", before)
    program = b.finish(rate)
    monkeypatch.setattr(teacher_match, "seen_names", lambda *_: ("other", "action_1"))
    columns = dict.fromkeys(FLOW_RATE.event_names, np.zeros(3, np.uint32))
    columns |= {
        FLOW_RATE.event_names[1]: np.array([1, 2, 2], np.uint32),
        "rate_q30": np.array([1 << 10, 3 << 10, 1 << 30], np.uint32),
    }
    rows = np.array([[9, -5], [9, 7], [9, 7]])
    run: Any = SimpleNamespace(columns=columns, integer_rows=lambda observation, params: (rows, np.ones(3, bool)))
    full = {**dict.fromkeys(FLOW_RATE.param_names, 0), "rate_max_q30": 65536}
    found = actions(program, None, full, run)  # type: ignore[arg-type]
    assert found.tolist() == [[(16 - 5 + 1) / 65536], [(32 + 7 + 3) / 65536], [(32 + 7 + 2**20 - 1) / 65536]]


def test_what_no_record_holds_of_a_context_is_what_the_decision_before_has_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A field that counts by what the event says, from 0 in each run; two runs, the second shorter."""
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    rate, count = b.state_in("rate_q30", "uint32"), b.state_in("count", "int16")
    event = b.add(Op.MIN, (b.event(FLOW_RATE.event_names[2]), b.const(9)))
    more = b.add(Op.MIN, (b.add(Op.ADD, (b.add(Op.MAX, (count, b.const(0))), event)), b.const(999)))
    coarse = b.add(Op.SHR, (rate,), 10)
    scaled = b.add(Op.MUL_SHR, (coarse, b.add(Op.ADD, (more, b.const(65536)))), 16)
    b.state_out("rate_q30", b.add(Op.MIN, (scaled, b.const(2**32 - 1))))
    b.state_out("count", more)
    program = b.finish(rate)
    monkeypatch.setattr(teacher_match, "seen_names", lambda *_: ("other",))
    columns = dict.fromkeys(FLOW_RATE.event_names, np.zeros(5, np.uint32))
    columns |= {FLOW_RATE.event_names[2]: np.array([1, 2, 4, 5, 7], np.uint32), "rate_q30": np.full(5, 1 << 20)}

    class Run:
        integer_rows = staticmethod(lambda observation, params: (np.zeros((5, 1), np.int64), np.ones(5, bool)))
        starts = staticmethod(lambda: np.array([0, 3]))
        __len__ = staticmethod(lambda: 5)

    run: Any = Run()
    run.columns = columns
    params = dict.fromkeys(FLOW_RATE.param_names, 0)
    found = actions(program, None, params, run)  # type: ignore[arg-type]
    assert (found[:, 0] * 65536).tolist() == [1, 3, 7, 5, 12]


def test_the_gates_own_rollouts_are_the_teachers_with_the_seed_of_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def collect(policy: Any, options: Any, deployment: Any) -> list[Any]:
        asked.append((policy, options.scenarios, options.seeds, options.duration, deployment))
        return [SimpleNamespace(trajectories="first"), SimpleNamespace(trajectories="second")]

    monkeypatch.setattr(rollout, "teacher_policy", lambda teacher: ("policy of", teacher))
    monkeypatch.setattr(rollout, "collect", collect)
    match = Match.model_validate({"seed": 77, "duration": "3 ms"})
    assert own_rollouts("teacher", ["many-to-one:2"], match, "there") == ["first", "second"]  # type: ignore[arg-type]
    assert asked == [(("policy of", "teacher"), ["many-to-one:2"], [77], 3 * 10**9, "there")]


def test_rollouts_are_given_as_their_folder_or_the_file_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def read(folder: Path, teacher: Any, deployment: Any, *, most_rows: int) -> list[Any]:
        asked.append((folder, most_rows))
        return [SimpleNamespace(trajectories=n) for n in range(2)]

    monkeypatch.setattr(rollout, "read", read)
    monkeypatch.setattr(teacher_match, "MAX_ROWS", 3)
    for place in (tmp_path, tmp_path / rollout.FILE):
        assert list(given_rollouts(place, None)) == [0, 1]  # type: ignore[arg-type]
    assert asked == [(tmp_path, 3)] * 2


def test_rollouts_of_more_decisions_than_memory_holds_are_refused() -> None:
    content = io.BytesIO()
    pq.write_table(pa.table({"a": [1, 2, 3]}), content)
    for most in (None, 3):
        rollout._check_columns(content, Path("r.parquet"), ["a"], most)
    with pytest.raises(InputError, match=r"r\.parquet has 3 "):
        rollout._check_columns(content, Path("r.parquet"), ["a"], 2)


def test_the_errors_are_of_the_network_in_which_each_is_largest() -> None:
    noisy, spiky = np.full(100, -0.2), np.array([0.0] * 100 + [0.5])
    found = Errors.of([noisy, spiky], "two")
    assert found == Errors("two", 201, rmse=pytest.approx(0.2), p99=0.2, maximum=0.5)
    one_in_hundred = np.array([0.5] + [0.1] * 99)
    assert Errors.of([one_in_hundred], "one").p99 == 0.1
    assert Errors.of([np.array([0.5, 0.5] + [0.1] * 98)], "one").p99 == 0.5
    named = Errors.of([noisy, spiky], "two", ["quiet", "spikes"])
    assert named.networks == {"rmse": "quiet", "p99": "quiet", "maximum": "spikes"}
    limits = Match(rmse=0.3, p99=0.3, maximum=0.4)
    (failed,) = [check for check in checks.teacher(named, limits) if not check.passed]
    assert "spikes" in failed.detail

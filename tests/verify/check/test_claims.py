"""The relations between a certificate's figures, each by itself; stand-ins say what the machine code comes to."""

import itertools
import re
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_rate import FLOW_RATE
from emulator.profile import load_profile
from verify.check import on_core
from verify.check import recheck as module
from verify.check.effort import FULL, Effort, Spent
from verify.check.on_core import calibrated_again
from verify.check.recheck import columns, rebuilt, recheck
from verify.check.refused import Refused
from verify.trusted.certificate import ASSUMPTIONS
from verify.trusted.costs import CycleModel, cycle_model
from verify.trusted.execute import ExecutionFault

CUTS = [SimpleNamespace(pc=0x100 + n, holds={"x5": "7"}, bounds={"node.1": [0, 9]}) for n in range(2)]


@dataclass
class Found:
    """What the simulator and the judge would find; ``asked`` of the judge."""

    cycles: int = 100
    exact_model: bool = True
    bound: int = 97
    deepest: int = 8
    met: set[int] = field(default_factory=lambda: {0, 1})
    dearer: bool = False
    many: bool = False
    overhead: int = 3
    spent: bool = False
    asked: list[Any] = field(default_factory=list)


def claimed(exact: int | None = 100, bound: int = 100, rtl_cycles: int = 100, stack: int = 8) -> Any:
    cycles = bound if exact is None else exact
    worst = SimpleNamespace(
        exact=exact, bound=bound, rtl_cycles=rtl_cycles, cycles=cycles, witness={}, outputs={"rate_q20": 1}
    )
    claims = SimpleNamespace(worst_case=worst, stack_bytes=stack)
    return SimpleNamespace(claims=claims, cuts=CUTS, subject=SimpleNamespace(entry="rlcc_decide"))


BUILT: Any = SimpleNamespace(
    engine=SimpleNamespace(limits=SimpleNamespace(stack_bytes=64), name="small", hash=lambda: "its hash"),
    image=SimpleNamespace(symbols={"rlcc_decide": 0x100}),
    program="the program",
    firmware=SimpleNamespace(layouts="the layouts"),
)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Found:
    made = Found()

    class Judge:
        deepest = property(lambda self: made.deepest)
        met = property(lambda self: made.met)
        walked = 17

        def __init__(self, *given: Any) -> None:
            made.asked.append(given)
            self.cuts, self.model, _, oracle, _ = given[-5:]
            oracle.asked = 5

        def bound(self) -> int:
            if made.spent:
                raise Spent
            return made.bound

        def dearer_chains(self, limit: int) -> Any:
            made.asked.append(limit)
            if made.many:
                raise Refused("more than 7 chains", unfinished=True)
            return iter([["a chain"]] if made.dearer else [])

    model = lambda _: SimpleNamespace(exact=made.exact_model, overhead=made.overhead)  # noqa: E731
    monkeypatch.setattr(module, "Judge", Judge)
    monkeypatch.setattr(module, "cycle_model", model)
    monkeypatch.setattr(module, "_same_subject", lambda *given: made.asked.append("subject"))
    monkeypatch.setattr(module, "_same_engine", lambda *given: made.asked.append("engine"))
    monkeypatch.setattr(module, "_witness", lambda *_: SimpleNamespace(cycles=made.cycles))
    return made


def test_figures_that_agree_hold(found: Found) -> None:
    said: list[str] = []
    result = recheck(claimed(), BUILT, solver="cvc5", progress=said.append)
    assert (result.bound, result.exact, result.stack_bytes) == (100, True, 8)
    assert (result.paths, result.questions, result.solver) == (17, 5, "cvc5")
    assert (result.engine, result.profile_hash) == ("small", "its hash")
    assert found.asked[:2] == ["subject", "engine"]
    image, entry, program, layouts, cuts, _, stack, oracle, effort = found.asked[2]
    assert (image, entry, program, layouts, stack) == (BUILT.image, 0x100, "the program", "the layouts", 64)
    assert [(c.pc, c.holds, c.bounds) for c in cuts] == [(0x100 + n, {"x5": "7"}, {"node.1": (0, 9)}) for n in range(2)]
    assert (oracle.solver, oracle.most, effort) == ("cvc5", None, FULL)
    assert len(said) == 1
    assert said[0].startswith("walking all paths")
    assert not recheck(claimed(exact=None), BUILT).exact
    assert len(found.asked) == 6, "no chains were asked for"


@pytest.mark.parametrize("exact_model", [True, False])
def test_the_witness_the_rtl_and_the_bound_agree_or_nothing_holds(found: Found, exact_model: bool) -> None:
    """Exact: the witness takes just that, by the model and on the RTL. Else it is no slower than the bound, and the RTL
    no slower than the model (which then bounds it)."""
    found.exact_model, found.bound = exact_model, 0
    tried = 0
    for run, exact, rtl, bound in itertools.product(
        (99, 100, 101), (99, 100, 101, None), (99, 100, 101), (99, 100, 101)
    ):
        found.cycles = run
        true = run <= bound and (rtl == run if exact_model else rtl <= run)
        if exact is not None:
            true = true and exact_model and exact == run
        tried += true
        if true:
            recheck(claimed(exact, bound, rtl), BUILT)
        else:
            said = f"{run} cycles by the cost model, {rtl}" if exact is None else f"{run} cycles, .* {exact} are exact"
            with pytest.raises(Refused, match=f"the witness takes {said}"):
                recheck(claimed(exact, bound, rtl), BUILT)
    assert tried >= 10


@pytest.mark.parametrize(("deepest", "stack", "holds"), [(8, 8, True), (9, 8, False), (7, 8, True), (1, 0, False)])
def test_no_more_stack_is_used_than_is_said(found: Found, deepest: int, stack: int, holds: bool) -> None:
    found.deepest = deepest
    if holds:
        assert recheck(claimed(stack=stack), BUILT).stack_bytes == deepest
    else:
        with pytest.raises(Refused, match=f"{deepest} bytes .*stack .*{stack}"):
            recheck(claimed(stack=stack), BUILT)


@pytest.mark.parametrize(("met", "first"), [({0}, 0x101), ({1}, 0x100), (set(), 0x100)])
def test_a_cut_that_no_path_comes_to_is_refused(found: Found, met: set[int], first: int) -> None:
    found.met = met
    with pytest.raises(Refused, match=f"no path .*{first:#x}") as refused:
        recheck(claimed(), BUILT)
    assert refused.value.unmet == tuple({0, 1} - met)
    assert recheck(claimed(), BUILT, idle=True).unmet == tuple({0, 1} - met)


def test_a_check_that_may_ask_no_more_questions_is_not_finished(found: Found) -> None:
    found.spent = True
    seven = Effort(paths=1, chains=1, questions=7)
    with pytest.raises(Refused, match="more than 7 questions") as refused:
        recheck(claimed(), BUILT, effort=seven)
    assert refused.value.unfinished
    *_, oracle, effort = found.asked[2]
    assert (oracle.most, effort) == (7, seven)


@pytest.mark.parametrize("exact", [100, None])
def test_a_bound_above_the_claim_needs_every_dearer_chain_impossible(found: Found, exact: int | None) -> None:
    said: list[str] = []
    found.bound = 98  # and the measuring window's 3
    assert recheck(claimed(exact), BUILT, progress=said.append).bound == 101
    assert found.asked[-1] == 97
    assert re.findall(r"\d+", said[-1]) == ["101", "100"]
    found.dearer = True
    with pytest.raises(Refused, match="certificate's 100 cycles") as refused:
        recheck(claimed(exact), BUILT)
    assert refused.value.bound == 101
    found.bound = 97
    assert recheck(claimed(exact), BUILT).bound == 100


def test_a_refusal_for_too_many_chains_says_what_bound_was_seen(found: Found) -> None:
    found.bound, found.many = 98, True
    with pytest.raises(Refused, match="7 chains") as refused:
        recheck(claimed(), BUILT)
    assert (refused.value.bound, refused.value.unfinished) == (101, True)


# --- the subject and the engine --------------------------------------------------------------------------------------

SUBJECT: dict[str, Any] = {"firmware": "a", "compiler": "clang", "files": {"source": "1", "program": "2"}}
ENGINE = load_profile("ibex-small")
CORE = Path("the core")
MODEL = cycle_model(ENGINE)


def subject(assumptions: Any = ASSUMPTIONS, **changes: Any) -> Any:
    content = {**SUBJECT, **changes}
    return SimpleNamespace(subject=SimpleNamespace(model_dump=lambda: content), assumptions=list(assumptions))


@pytest.fixture
def stated_subjects(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a build is of stands in it."""
    monkeypatch.setattr(module, "subject_of", lambda built: built.subject)


@pytest.mark.usefixtures("stated_subjects")
def test_each_part_of_the_subject_is_compared() -> None:
    same = module._same_subject
    same(subject(), subject())
    for key in SUBJECT:
        other = {"source": "1", "program": "3"} if key == "files" else "other"
        with pytest.raises(Refused, match="for another " + ("program" if key == "files" else key)):
            same(subject(**{key: other}), subject())
    with pytest.raises(Refused, match="for another source"):
        same(subject(files={"program": "2"}), subject())


@pytest.mark.usefixtures("stated_subjects")
@pytest.mark.parametrize("change", [lambda a: a[1:], lambda a: (*a, "and more"), lambda a: a[::-1], lambda a: ()])
def test_other_assumptions_are_refused(change: Any) -> None:
    with pytest.raises(Refused, match="other assumptions"):
        module._same_subject(subject(change(ASSUMPTIONS)), subject())


def engine(model: str = "exact", core: str | None = None, **calibration: Any) -> Any:
    core = core or module.core_version(ENGINE.core)
    content = {"core": core, "profile_hash": ENGINE.hash(), "above": 0, "below": 0, "wrong": 0, **calibration}
    return SimpleNamespace(engine=SimpleNamespace(core=core, model=model, calibration=content))


BOUNDED = CycleModel(**{**vars(MODEL), "exact": False})
OTHER_ENGINES: dict[str, tuple[Any, CycleModel, str]] = {
    "another core": (engine(core="ibex 0"), MODEL, "for the core ibex 0"),
    "a calibration on another core": (
        SimpleNamespace(
            engine=SimpleNamespace(core=module.core_version(ENGINE.core), model="exact", calibration={"core": "x"})
        ),
        MODEL,
        "for the core",
    ),
    "a calibration of another profile": (engine(profile_hash="0"), MODEL, "of another engine"),
    "a bound that is said to be exact": (engine(), BOUNDED, "of another engine"),
    "an exact model that is said to bound": (engine("bounded"), MODEL, "of another engine"),
    "cycles above the model": (engine(above=1), MODEL, "found a difference"),
    "wrong results": (engine(wrong=1), MODEL, "found a difference"),
    "cycles below an exact model": (engine(below=1), MODEL, "found a difference"),
    "cycles above a bound": (engine("bounded", above=1), BOUNDED, "found a difference"),
    "figures that are missing": (engine(above=None), MODEL, "found a difference"),
}


@pytest.mark.parametrize("what", OTHER_ENGINES)
def test_another_engine_or_a_bad_calibration_is_refused(what: str) -> None:
    stated, model, why = OTHER_ENGINES[what]
    with pytest.raises(Refused, match=why):
        module._same_engine(stated, ENGINE, model)


def test_a_bounding_model_may_be_above_the_core() -> None:
    module._same_engine(engine(), ENGINE, MODEL)
    module._same_engine(engine("bounded", below=3), ENGINE, BOUNDED)


def test_the_cost_model_is_measured_again_and_must_be_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def measured(profile: Any, executable: Path, progress: Any) -> Any:
        asked.append((profile, executable, progress))
        return SimpleNamespace(to_json=lambda: {"above": 0})

    def stated(above: int, rtl_cycles: int = 100) -> Any:
        claims = SimpleNamespace(worst_case=SimpleNamespace(witness={"event.a": 7}, rtl_cycles=rtl_cycles))
        engine = SimpleNamespace(calibration={"above": above})
        return SimpleNamespace(engine=engine, claims=claims, subject=SimpleNamespace(entry="rlcc_decide"))

    run = SimpleNamespace(fault=None, cycles=np.array([100]))
    monkeypatch.setattr(on_core, "calibrate", measured)
    monkeypatch.setattr(on_core, "run_executable", lambda *given: asked.append(given) or run)
    block, words = SimpleNamespace(name="event"), np.array([(7,)], dtype=[("a", "<u4")])
    built: Any = SimpleNamespace(
        engine=ENGINE,
        blocks=[block],
        inputs=lambda witness: [words.tobytes()] if witness == {"event.a": 7} else [],
        firmware=SimpleNamespace(layouts={"event": SimpleNamespace(dtype=words.dtype)}),
        image="the image",
    )
    said: list[str] = []
    calibrated_again(stated(0), built, CORE, said.append)
    assert asked[0] == (ENGINE, CORE, said.append)
    executable, image, entry, engine, ((of, record),) = asked[1]
    assert executable == CORE
    assert (image, entry, engine, of, record.tolist()) == ("the image", "rlcc_decide", ENGINE, block, [(7,)])
    with pytest.raises(Refused, match=r"measured .*certificate"):
        calibrated_again(stated(1), built, CORE)
    for other in (99, 101):
        with pytest.raises(Refused, match=f"witness .*: 100 cycles; .*{other} cycles"):
            calibrated_again(stated(0, other), built, CORE)
    run.fault = SimpleNamespace(text="a trap")
    with pytest.raises(Refused, match=r"witness .*: a trap"):
        calibrated_again(stated(0), built, CORE)


def test_the_folder_is_compiled_as_the_certificate_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(module, "build_folder", lambda folder, **chosen: asked.append((folder, chosen)) or "built")
    stated: Any = SimpleNamespace(
        engine=SimpleNamespace(profile=ENGINE.meaning()),
        subject=SimpleNamespace(compiler="gcc", flags=["-march=rv32im", "-O3"]),
    )
    assert rebuilt(stated, tmp_path) == "built"
    ((folder, asked_for),) = asked
    profile = asked_for.pop("profile")
    assert (folder, asked_for) == (tmp_path, {"compiler": "gcc", "opt": "-O3"})
    assert profile.meaning() == ENGINE.meaning()
    assert profile.hash() == ENGINE.hash()


def built_with(**layouts: Any) -> Any:
    program = SimpleNamespace(interface=FLOW_RATE, state=[SimpleNamespace(name="a")])
    firmware = SimpleNamespace(layouts=layouts)
    return SimpleNamespace(image="", engine=ENGINE, blocks=[], inputs=lambda _: [], program=program, firmware=firmware)


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (ExecutionFault("it does not end"), "does not end"),
        (InputError("too big"), "too big"),
    ],
)
def test_a_witness_that_cannot_be_run_is_refused(monkeypatch: pytest.MonkeyPatch, error: Exception, why: str) -> None:
    def call(_: Any) -> None:
        raise error

    monkeypatch.setattr(module, "Simulator", lambda *_: SimpleNamespace(call=call))
    with pytest.raises(Refused, match=f"{why}$"):
        module._witness(claimed(), built_with(), MODEL)


# What the witness comes to: by the machine code, by the program, by the certificate.
COMES_TO = {"run": 5, "decided": 5, "claimed": 5, "in memory": 7, "kept": 7, "claimed of the context": 7}
KNOB = FLOW_RATE.knobs[0].name


@pytest.mark.parametrize("other", [None, *COMES_TO])
def test_a_witness_computes_what_the_program_says_in_each_place(
    monkeypatch: pytest.MonkeyPatch, other: str | None
) -> None:
    comes_to = {name: value + (name == other) for name, value in COMES_TO.items()}
    dtype = np.dtype([("a", "<u4")])
    written = {"context": np.array([(comes_to["in memory"],)], dtype).tobytes()}
    run = SimpleNamespace(returned=comes_to["run"], written=written)
    decided = (np.int64(comes_to["decided"]),), {"a": np.int64(comes_to["kept"])}
    monkeypatch.setattr(module, "Simulator", lambda *_: SimpleNamespace(call=lambda inputs: run))
    monkeypatch.setattr(module, "evaluate", lambda *_: decided)
    stated = claimed()
    stated.claims.worst_case.witness = {"context.a": 1}
    stated.claims.worst_case.outputs = {KNOB: comes_to["claimed"], "context.a": comes_to["claimed of the context"]}
    # An action is written, so no witness gives it.
    built = built_with(
        context=SimpleNamespace(fields={"a": None}, dtype=dtype), action=SimpleNamespace(fields={"b": None})
    )
    if other is None:
        assert module._witness(stated, built, MODEL) is run
    else:
        with pytest.raises(Refused, match="not compute what"):
            module._witness(stated, built, MODEL)


def test_a_witness_is_taken_apart_by_structure() -> None:
    witness = {"event.a": 1, "params.a": 2, "context.a": 3, "event.b": 4, "context.c.d": 5}
    assert columns(witness) == [{"a": 1, "b": 4}, {"a": 2}, {"a": 3, "c.d": 5}]

"""The checker's process, step by step: what it is given, what it answers, how it ends. Stand-ins do the check."""

import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from decision.artefact.errors import InputError
from rlcc.commands.verify import command
from verify.check import boundary
from verify.check.boundary import DEFAULT, CheckLimits, checked, judged
from verify.check.effort import QUICK, Effort
from verify.check.proofs import Contradiction
from verify.check.recheck import Recheck
from verify.check.refused import Refused
from verify.trusted.machine import IllegalInstruction

HOLDS = Recheck(100, True, 8, 17, 5, 3, "bitwuzla", "ibex-small", "0")
ROOT = Path(__file__).resolve().parents[3]
ANYTHING: Any = SimpleNamespace(behaviour=["a property"], teacher=None)
OPENED: Any = "what was read of a folder"
BUILT: Any = SimpleNamespace(firmware="the firmware", engine=SimpleNamespace(core="its core"))
EXECUTABLE = Path("the core")
TEACHER: Any = "a teacher"


# --- the check in the process ----------------------------------------------------------------------------------------


class Steps:
    """What ``judged`` calls, as stand-ins: ``raising`` one fails there."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[Any] = []
        self.raising: dict[str, Exception] = {}
        monkeypatch.setattr(boundary, "rebuilt", self.step("rebuilt", BUILT))
        monkeypatch.setattr(boundary, "recheck", self.step("recheck", HOLDS))
        monkeypatch.setattr(boundary, "calibrated_again", self.step("calibrated_again", None))
        monkeypatch.setattr(boundary, "core_executable", lambda *asked: {("its core", print): EXECUTABLE}.get(asked))
        monkeypatch.setattr(boundary, "vectors_of", lambda firmware: firmware)
        monkeypatch.setattr(boundary, "behaviour_again", self.step("behaviour_again", None))

    def step(self, name: str, result: Any) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            self.seen.append((name, arguments, named, resource.getrlimit(resource.RLIMIT_AS)[0]))
            if name in self.raising:
                raise self.raising[name]
            return result

        return run

    def judged(self, core: bool = True) -> Recheck:
        limits = CheckLimits(memory_bytes=1 << 45)
        return judged(ANYTHING, Path("folder"), "cvc5", print, limits, core=core, effort=QUICK, idle=True)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    return Steps(monkeypatch)


def test_it_is_compiled_rechecked_in_the_memory_limit_and_calibrated(steps: Steps) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    assert steps.judged() == replace(HOLDS, on_core=True)
    limits = [limit for *_, limit in steps.seen]
    assert limits == [
        before[0],
        *[1 << 45 if before[0] == resource.RLIM_INFINITY else min(1 << 45, before[0])] * 2,
        before[0],
    ]
    asked = {"solver": "cvc5", "progress": print, "prove": None, "effort": QUICK, "idle": True}
    assert [step[:3] for step in steps.seen] == [
        ("rebuilt", (ANYTHING, Path("folder")), {}),
        ("recheck", (ANYTHING, BUILT), asked),
        ("behaviour_again", (["a property"], "the firmware"), {}),
        ("calibrated_again", (ANYTHING, BUILT, EXECUTABLE, print), {}),
    ]


def test_without_a_core_nothing_is_calibrated_and_the_answer_says_so(steps: Steps) -> None:
    assert not HOLDS.on_core
    assert steps.judged(core=False) is HOLDS
    assert [name for name, *_ in steps.seen] == ["rebuilt", "recheck", "behaviour_again"]


def test_a_distance_is_of_the_programs_student_and_within_the_limits(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boundary, "student_of", steps.step("student_of", "its student"))
    monkeypatch.setattr(boundary, "distance_again", steps.step("distance_again", 1))
    claimed: Any = SimpleNamespace(behaviour=[], teacher="a distance")
    judged(claimed, Path("folder"), "cvc5", print, CheckLimits())
    assert [name for name, *_ in steps.seen] == ["rebuilt", "recheck", "behaviour_again", "calibrated_again"]
    judged(claimed, Path("folder"), "cvc5", print, CheckLimits(memory_bytes=1 << 44), teacher=TEACHER)
    name, arguments, _, limit = steps.seen[-2]
    assert (name, arguments) == ("distance_again", ("a distance", "its student", TEACHER, print))
    assert limit <= 1 << 44
    steps.raising["student_of"] = OverflowError("a defect")
    with pytest.raises(Refused):
        judged(claimed, Path("folder"), "cvc5", print, CheckLimits(), teacher=TEACHER)


def test_proofs_are_written_of_what_holds_and_of_nothing_else(steps: Steps, tmp_path: Path) -> None:
    archive = tmp_path / "new" / "proofs.zip"
    steps.raising["behaviour_again"] = Refused("it is not so")
    with pytest.raises(Refused):
        judged(ANYTHING, Path("folder"), "cvc5", print, CheckLimits(), archive)
    assert not archive.exists()
    del steps.raising["behaviour_again"]
    judged(ANYTHING, Path("folder"), "cvc5", print, CheckLimits(), archive)
    (prove,) = [named["prove"] for name, _, named, _ in steps.seen[-4:] if name == "recheck"]
    assert archive.read_bytes() == prove.__self__.archive()


def test_vectors_that_contradict_the_program_are_bad_input(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    def contradicting(firmware: Any) -> Any:
        raise InputError(f"vectors of {firmware}")

    monkeypatch.setattr(boundary, "vectors_of", contradicting)
    with pytest.raises(InputError, match=BUILT.firmware):
        steps.judged()
    assert [name for name, *_ in steps.seen] == ["rebuilt"]


FAILURES: dict[str, tuple[Exception, type[Exception], str]] = {
    "a refusal": (Refused("it is not so"), Refused, r"^it is not so$"),
    "bad input": (InputError("there is no file"), InputError, r"^there is no file$"),
    "no instruction": (IllegalInstruction("0x1234 is none"), Refused, r"^0x1234 is none$"),
    "two solvers at odds": (Contradiction("cvc5 says no"), Refused, r"^cvc5 says no$"),
    "no end": (RecursionError("maximum recursion depth"), Refused, r"nests deeper than can be followed"),
    "no memory": (MemoryError(), Refused, rf"^the check needs more than {1 << 25} MiB$"),
    "a defect": (KeyError("x"), Refused, r"^the checker cannot judge it: KeyError: 'x'$"),
}


@pytest.mark.parametrize("where", ["rebuilt", "recheck", "calibrated_again"])
@pytest.mark.parametrize("what", FAILURES)
def test_a_failure_anywhere_is_refused_but_for_bad_input(steps: Steps, where: str, what: str) -> None:
    error, kind, text = FAILURES[what]
    before = resource.getrlimit(resource.RLIMIT_AS)
    steps.raising[where] = error
    with pytest.raises((Refused, InputError), match=text) as caught:
        steps.judged()
    assert type(caught.value) is kind
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_the_limits_are_those_of_the_page_and_of_the_command(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    steps.raising["recheck"] = MemoryError()
    with pytest.raises(Refused, match=rf"more than {8 << 10} MiB"):
        judged(ANYTHING, Path("folder"), "cvc5", print, CheckLimits())
    with pytest.raises(Refused, match="after 1800 s"):
        Talk(monkeypatch, ("progress", "on"), seconds=5000).answer(limits=CheckLimits())
    page = (ROOT / "docs" / "reference" / "verify.md").read_text()
    assert "1800 s (`--time-limit`; " in page
    assert "8 GiB of memory" in page
    assert next(p for p in command.params if p.name == "time_limit").default == 1800


@pytest.mark.parametrize(
    ("soft", "limit"),
    [(resource.RLIM_INFINITY, 1000), (2000, 1000), (1000, 1000), (500, 500)],
)
def test_memory_is_limited_and_never_more_than_it_was(monkeypatch: pytest.MonkeyPatch, soft: int, limit: int) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, 5000))
    monkeypatch.setattr(resource, "setrlimit", lambda *limits: asked.append(limits))
    with boundary._memory(1000):
        assert asked == [(resource.RLIMIT_AS, (limit, 5000))]
    assert asked[1:] == [(resource.RLIMIT_AS, (soft, 5000))]


def test_a_system_without_a_limit_of_memory_checks_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any) -> None:
        raise ValueError("no such limit")

    monkeypatch.setattr(resource, "setrlimit", none)
    with boundary._memory(1000):
        pass


# --- what it sends, and what becomes of that -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        (HOLDS, ("holds", HOLDS)),
        (Refused("not so", (3, 5)), ("refused", ("not so", (3, 5), False, None))),
        (Refused("not yet", unfinished=True, bound=9), ("refused", ("not yet", (), True, 9))),
        (InputError("no file"), ("input", "no file")),
    ],
)
def test_the_process_sends_what_it_is_at_then_one_answer(
    monkeypatch: pytest.MonkeyPatch, result: Any, answer: tuple[str, Any]
) -> None:
    seen: list[Any] = []

    def judging(
        certificate: Any,
        folder: Path,
        solver: str,
        progress: Callable[[str], None],
        limits: CheckLimits,
        proofs: Path,
        teacher: Any,
        core: bool,
        effort: Effort,
        idle: bool,
    ) -> Recheck:
        seen.append((certificate, folder, solver, limits, proofs, teacher, core, effort, idle))
        progress("walking")
        if isinstance(result, Exception):
            raise result
        return HOLDS

    monkeypatch.setattr(os, "setpgrp", lambda: seen.append("setpgrp"))
    monkeypatch.setattr(boundary, "judged", judging)
    arguments = (ANYTHING, Path("folder"), "cvc5", DEFAULT, Path("proofs.zip"), TEACHER, False, QUICK, True)
    pipe: Any = SimpleNamespace(send=seen.append, recv=lambda: arguments)
    boundary._child(pipe)
    assert seen == ["setpgrp", arguments, ("progress", "walking"), answer]


class Talk:
    """Both ends' times and words: each message comes ``seconds`` after it is asked for, then the end of the pipe."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *messages: Any, seconds: float = 4.0) -> None:
        self.now, self.seconds, self.messages = 1000.0, seconds, iter(messages)
        self.asked: list[float] = []
        self.joined: list[float] = []
        self.exitcode: int | None = None
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    def poll(self, seconds: float) -> bool:
        self.asked.append(seconds)
        self.now += min(self.seconds, seconds)
        return seconds >= self.seconds

    def recv(self) -> Any:
        try:
            return next(self.messages)
        except StopIteration:
            raise EOFError from None

    def join(self, seconds: float) -> None:
        self.joined.append(seconds)
        self.exitcode = -11 if seconds else None

    def answer(self, progress: Any = None, limits: CheckLimits = CheckLimits(seconds=100)) -> Recheck:  # noqa: B008 - frozen
        both: Any = self
        return boundary._answer(both, both, progress, limits)


def test_what_it_is_at_is_told_and_what_holds_is_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    assert Talk(monkeypatch, ("progress", "a"), ("progress", "b"), ("holds", HOLDS)).answer(said.append) is HOLDS
    assert said == ["a", "b"]
    assert Talk(monkeypatch, ("progress", "a"), ("holds", HOLDS)).answer() is HOLDS


@pytest.mark.parametrize(
    ("no", "error", "unmet"), [(("refused", ("why", (3,), True)), Refused, (3,)), (("input", "why"), InputError, None)]
)
def test_a_no_is_raised_here(
    monkeypatch: pytest.MonkeyPatch, no: tuple[str, Any], error: type[Exception], unmet: tuple[int, ...] | None
) -> None:
    with pytest.raises((Refused, InputError), match=r"^why$") as caught:
        Talk(monkeypatch, no, ("holds", HOLDS)).answer()
    assert type(caught.value) is error
    assert getattr(caught.value, "unmet", None) == unmet


@pytest.mark.parametrize("message", [("holds", "a text"), ("holds", None), ("progress", HOLDS), ("other", HOLDS)])
def test_nothing_else_is_an_answer(monkeypatch: pytest.MonkeyPatch, message: Any) -> None:
    talk = Talk(monkeypatch, message)
    with pytest.raises(Refused, match="exit code -11"):
        talk.answer()
    assert len(talk.joined) == 1


def test_all_messages_together_have_the_time_that_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [("progress", "on")] * 5
    talk = Talk(monkeypatch, *words)
    with pytest.raises(Refused, match=r"^the check .*10 s$"):
        talk.answer(limits=CheckLimits(seconds=10))
    assert talk.asked == [10, 6, 2]
    late = Talk(monkeypatch, *words)
    late.poll = lambda seconds: late.asked.append(seconds) or setattr(late, "now", late.now + 7) or seconds > 0  # type: ignore[method-assign,assignment,func-returns-value]
    with pytest.raises(Refused, match=r"^the check .*10 s$"):
        late.answer(limits=CheckLimits(seconds=10))
    assert late.asked == [10, 3, 0], "never a time below none, which a pipe might take for no limit"


# --- the process -----------------------------------------------------------------------------------------------------


def test_it_is_given_all_and_nothing_of_it_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    ours, theirs = (SimpleNamespace(close=lambda n=n: seen.append(f"closed {n}")) for n in ("ours", "theirs"))
    ours.send = seen.append
    child = SimpleNamespace(start=lambda: seen.append("started"))

    def process(**named: Any) -> Any:
        seen.append(named)
        return child

    context = SimpleNamespace(Pipe=lambda: (ours, theirs), Process=process)
    monkeypatch.setattr(boundary, "get_context", lambda method: seen.append(method) or context)
    monkeypatch.setattr(boundary, "_answer", lambda *arguments: seen.append(arguments) or HOLDS)
    monkeypatch.setattr(boundary, "_end", lambda of: seen.append(("ended", of)))
    limits = CheckLimits(seconds=7)
    proofs = Path("proofs.zip")
    asked: dict[str, Any] = {"solver": "cvc5", "progress": print, "limits": limits, "proofs": proofs}
    asked |= {"effort": QUICK, "idle": True}
    monkeypatch.setattr(boundary, "of_kind", lambda firmware, kind: (kind, "opened", firmware))
    assert checked(ANYTHING, Path("folder"), teacher=TEACHER, **asked) is HOLDS
    arguments = (ANYTHING, ("firmware", "opened", Path("folder")), "cvc5", limits, proofs, TEACHER, True, QUICK, True)
    assert seen == [
        "spawn",
        {"target": boundary._child, "args": (theirs,), "daemon": True},
        *("started", "closed theirs", arguments, (ours, child, print, limits), ("ended", child), "closed ours"),
    ]


def test_a_process_that_breaks_down_is_told_from_one_that_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boundary, "_child", os.abort)  # which takes no arguments: it ends with a traceback
    with pytest.raises(Refused, match=r"\(exit code 1\)"):
        checked(ANYTHING, OPENED, limits=CheckLimits(seconds=60))
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("is_there", [True, False])
def test_the_group_the_process_and_its_traces_are_ended_in_this_order(
    monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    seen: list[Any] = []

    def killpg(group: int, number: int) -> None:
        seen.append((group, number))
        if not is_there:
            raise ProcessLookupError

    monkeypatch.setattr(os, "killpg", killpg)
    child: Any = SimpleNamespace(pid=4321, kill=lambda: seen.append("kill"), join=lambda: seen.append("join"))
    boundary._end(child)
    assert seen == [(4321, signal.SIGKILL), "kill", "join"]


STARTER = """
import os, subprocess, sys, time
os.setpgrp()
started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
with open({path!r} + ".new", "w") as file:
    file.write(str(started.pid))
os.rename({path!r} + ".new", {path!r})
started.wait()
"""


@pytest.fixture
def starter(tmp_path: Path) -> Iterator[tuple[Any, int]]:
    """A process that has started another, and that one's number."""
    path = tmp_path / "pid"
    child = get_context("spawn").Process(target=exec, args=(STARTER.format(path=str(path)),), daemon=True)
    child.start()
    end = time.monotonic() + 60
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.02)
    other = int(path.read_text())
    yield child, other
    child.kill()
    if runs(other):
        os.kill(other, signal.SIGKILL)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_what_the_process_has_started_ends_with_it(starter: tuple[Any, int]) -> None:
    child, other = starter
    assert runs(other)
    boundary._end(child)
    assert child.exitcode == -signal.SIGKILL
    end = time.monotonic() + 10
    while runs(other) and time.monotonic() < end:
        time.sleep(0.02)
    assert not runs(other)

"""Whatever a certificate does, the answer is "holds" or "refused", within limits of time and memory.

Slow: a cut that is left out across processes, and the printed lines of a check that holds.
"""

import copy
import json
import os
import re
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from drawing import ACTIONS, FEATURES, make_student
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutations import bounded, twisted

from codegen.emit import emit
from decision.artefact.errors import InputError
from decision.artefact.output import writing
from decision.ir.forest import oblivious
from emulator.build import Build
from emulator.firmware_folder import built as build_folder
from emulator.profile import load_profile
from rlcc.commands.verify import command
from rlcc.gate.certified import certified
from rlcc.recipe import EmulateOptions
from tests.stage_output import figures
from verify.check import boundary
from verify.check.boundary import CheckLimits, checked, judged
from verify.check.recheck import Recheck, recheck
from verify.check.recheck import rebuilt as built_again
from verify.check.refused import Refused
from verify.prover.certify import certify
from verify.trusted.certificate import Certificate, content_hash, read_certificate, subject_of

TREES = (oblivious(((0, 4376), (1, 37_000)), (-1949, 896, 1879, 2476)), oblivious(((1, 900),), (-700, 431)))
Proved = tuple[Build, dict[str, Any]]
DEEP = "(+ " + "1 " * 20_000 + ")"
NESTED = "(+ 1 " * 2000 + "1" + ")" * 2000


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Build, dict[str, Any]]:
    """A firmware of two trees, and its true certificate's content."""
    folder = tmp_path_factory.mktemp("proved")
    with writing(folder / "student", "student") as work:
        make_student([FEATURES["previous_action"], FEATURES["rl_cc_congestion"]], ACTIONS[0], TREES).save(work)
    emit(folder / "student", folder / "firmware", target="generic", seed=0)
    found = certify(build_folder(folder / "firmware", profile=load_profile("ibex-small")))
    assert found.certificate is not None
    content = found.certificate.model_dump(mode="json")
    assert len(content["cuts"]) > 1
    return found.build, content


def sealed(path: Path, content: Any) -> Path:
    content = {**content, "hash": content_hash(content)} if isinstance(content, dict) else content
    path.write_text(json.dumps(content))
    return path


def with_value(content: dict[str, Any], expression: str) -> dict[str, Any]:
    """The certificate with an expression as the value of its first cut's first place."""
    edited = copy.deepcopy(content)
    holds = edited["cuts"][0]["holds"]
    holds[min(holds)] = expression
    return edited


def verify(folder: Path, *arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(command, [str(folder), *map(str, arguments)], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.return_value, done.output


def test_an_expression_without_measure_is_refused_by_verify_and_by_the_gate(proved: Proved, tmp_path: Path) -> None:
    built, content = proved
    path = sealed(tmp_path / "certificate.json", with_value(content, DEEP))
    code, output = verify(built.firmware.folder, "--check", path)
    assert code == 1
    assert "refused: " in output
    found = certified(built, path, EmulateOptions())
    assert not found.check.passed
    assert found.certificate is None


def judging(monkeypatch: pytest.MonkeyPatch, proved: Proved) -> Callable[[Certificate], Recheck]:
    """The check in this process, without compiling what is compiled and without the core."""
    built, content = proved
    true = {"profile": content["engine"]["profile"], "compiler": "clang", "opt": "-O2"}

    def rebuilt(certificate: Certificate, folder: Path) -> Build:
        subject = certificate.subject
        same = {"profile": certificate.engine.profile, "compiler": subject.compiler, "opt": subject.flags[-1]} == true
        return built if same else built_again(certificate, folder)

    monkeypatch.setattr(boundary, "rebuilt", rebuilt)
    monkeypatch.setattr(boundary, "calibrated_again", lambda *_: None)
    return lambda c: judged(c, built.firmware.folder, "bitwuzla", lambda _: None, CheckLimits())


@pytest.mark.parametrize("expression", [NESTED, "(+ " + "node.3 " * 2500 + ")", "9" * 19_000, "(" * 10_000, ") ("])
def test_an_expression_within_the_limit_may_still_nest_without_measure(
    expression: str, proved: Proved, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Refused):
        judging(monkeypatch, proved)(sealed_model(with_value(proved[1], expression)))


EXPRESSIONS = st.recursive(
    st.sampled_from(["0", "-1", str(2**32), str(-(2**31)), "node.0", "node.9", "tree.0", "sum.1", "tree.7", "sum.99"])
    | st.sampled_from(
        ["context.action", "event.response_ns", "event.none", "pointer.context", "register.2", "x", "", "()"]
    ),
    lambda inner: st.builds(
        lambda op, args: f"({op} {' '.join(args)})",
        st.sampled_from(["+", "*", "and", "or", "srl", "sra", "sll", "sltu", "slt", "eq", "mulh", "product", "?"]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=8,
)
PLACES = st.sampled_from(["x1", "x5", "x10", "x31", "x32", "frame-4:4", "frame-4:1", "context+0:4", "context+4:2", "y"])


@st.composite
def mutated(draw: st.DrawFn, content: dict[str, Any]) -> Any:
    """A true certificate with values twisted anywhere, or with other cuts."""
    if draw(st.booleans()):
        return draw(twisted(content))
    edited = copy.deepcopy(content)
    cut = draw(st.sampled_from(edited["cuts"]))
    for _ in range(draw(st.integers(1, 3))):
        match draw(st.integers(0, 3)):
            case 0:
                cut["holds"][draw(PLACES)] = draw(EXPRESSIONS)
            case 1:
                cut["holds"][draw(st.sampled_from(sorted(cut["holds"])))] = draw(EXPRESSIONS)
            case 2:
                low = draw(st.integers(-(2**33), 2**33))
                cut["bounds"][draw(EXPRESSIONS)] = [low, low + draw(st.integers(-1, 2**33))]
            case _:
                cut["pc"] += draw(st.sampled_from([-4, 4, 2, 1, -(2**31), 2**64]))
    return edited


def test_no_mutation_of_a_true_certificate_ends_in_a_traceback(
    proved: Proved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, (_, content) = judging(monkeypatch, proved), proved
    true = judge(read_certificate(sealed(tmp_path / "certificate.json", content)))
    seen: list[str] = []

    def refusal(edited: Any) -> str:
        """Why it was refused, or what holds of it."""
        with bounded():
            try:
                certificate = read_certificate(sealed(tmp_path / "certificate.json", edited))
            except InputError as error:
                seen.append("unreadable")
                return str(error)
            try:
                found = judge(certificate)
            except (Refused, InputError) as error:
                seen.append("refused")
                return str(error)
        seen.append("holds")
        assert found.stack_bytes == true.stack_bytes <= certificate.claims.stack_bytes
        assert certificate.claims.worst_case.cycles >= content["claims"]["worst_case"]["exact"]
        assert certificate.subject.model_dump(mode="json") == content["subject"]
        return "holds"

    @settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(mutated(content))
    def answered(edited: Any) -> None:
        why = refusal(edited)
        assert why.isprintable()
        assert "checker cannot judge" not in why

    answered()
    assert min(seen.count(answer) for answer in ("refused", "unreadable")) >= 10
    assert "holds" in seen


@pytest.mark.slow_except("0")
@pytest.mark.parametrize("part", range(3))
def test_every_place_of_a_cut_is_checked(part: int, proved: Proved, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another value in any place, a bound that is too tight, another address: no path comes there with that. Each part
    takes every third lie of each kind."""
    judge, content = judging(monkeypatch, proved), proved[1]
    bounded_cuts = [n for n, cut in enumerate(content["cuts"]) if cut["bounds"]]
    lies = [("holds", 0, place) for place in content["cuts"][0]["holds"]]
    lies += [("bounds", n, text) for n in bounded_cuts for text in content["cuts"][n]["bounds"]]
    lies += [("pc", n, "") for n in range(len(content["cuts"]))]
    assert len(lies) > 20
    for kind, number, key in lies[part::3]:
        edited = copy.deepcopy(content)
        cut = edited["cuts"][number]
        if kind == "pc":
            cut["pc"] += 4
        elif kind == "holds":
            cut["holds"][key] = "event.nack_count"
        else:
            cut["bounds"][key] = [n + 1 for n in cut["bounds"][key][:1]] * 2
        with pytest.raises(Refused):
            judge(sealed_model(edited))


@pytest.mark.slow
def test_a_cut_that_no_path_comes_to_is_named_across_processes_and_left_out(proved: Proved, tmp_path: Path) -> None:
    built, content = proved
    edited = copy.deepcopy(content)
    edited["cuts"].insert(1, {"pc": 4, "holds": {}, "bounds": {}})
    certificate = read_certificate(sealed(tmp_path / "certificate.json", edited))
    with pytest.raises(Refused) as refused:
        checked(certificate, built.firmware.folder)
    assert refused.value.unmet == (1,)
    found = checked(certificate, built.firmware.folder, idle=True)
    without = read_certificate(sealed(tmp_path / "without.json", content))
    again = checked(without, built.firmware.folder)
    assert found.unmet == (1,)
    assert again.unmet == ()
    assert (found.bound, found.exact, found.paths) == (again.bound, again.exact, again.paths)


def test_a_true_certificate_holds_in_a_process_of_its_own(proved: Proved, tmp_path: Path) -> None:
    built, content = proved
    said: list[str] = []
    certificate = read_certificate(sealed(tmp_path / "certificate.json", content))
    found = checked(certificate, built.firmware.folder, progress=said.append)
    assert found.bound == content["claims"]["worst_case"]["bound"]
    assert (found.engine, found.profile_hash) == ("ibex-small", built.engine.hash())
    assert any("walking" in text for text in said)


def test_a_check_that_does_not_end_is_refused_and_ended(proved: Proved) -> None:
    built, content = proved
    begin = time.monotonic()
    with pytest.raises(Refused, match=r"after 0\.2 s"):
        checked(sealed_model(content), built.firmware.folder, limits=CheckLimits(seconds=0.2))
    assert time.monotonic() - begin < 30


def test_a_check_that_takes_too_much_memory_is_refused(proved: Proved) -> None:
    built, content = proved
    with pytest.raises(Refused, match=r"1 MiB|without an answer"):
        checked(sealed_model(content), built.firmware.folder, limits=CheckLimits(memory_bytes=1 << 20))


def sealed_model(content: dict[str, Any]) -> Certificate:
    return Certificate.model_validate({**content, "hash": content_hash(content)})


def test_a_checker_that_breaks_down_has_refused() -> None:
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=os.abort, daemon=True)
    child.start()
    theirs.close()
    with pytest.raises(Refused, match="exit code -6"):
        boundary._answer(ours, child, None, CheckLimits())


def test_a_checker_that_ends_before_it_reads_has_refused(proved: Proved, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is to read more than a pipe holds."""
    monkeypatch.setattr(boundary, "_child", os.abort)
    built, content = proved
    with pytest.raises(Refused, match="exit code"):
        checked(sealed_model(content), built.firmware.folder)


FAILURES = {
    "a recursion": (RecursionError("maximum"), "nests deeper"),
    "no memory": (MemoryError(), "needs more than"),
    "an assertion": (AssertionError("text"), "cannot judge it: AssertionError: text"),
    "a key that is missing": (KeyError("x"), "cannot judge it: KeyError"),
}


@pytest.mark.parametrize("what", FAILURES)
def test_a_defect_of_the_checker_is_no_reason_to_believe(
    what: str, proved: Proved, monkeypatch: pytest.MonkeyPatch
) -> None:
    error, why = FAILURES[what]

    def fails(*_: object, **__: object) -> None:
        raise error

    judge = judging(monkeypatch, proved)
    monkeypatch.setattr(boundary, "recheck", fails)
    with pytest.raises(Refused, match=why):
        judge(sealed_model(proved[1]))
    assert recheck is not boundary.recheck


@pytest.mark.slow
def test_it_is_printed_what_was_certified(proved: Proved, tmp_path: Path) -> None:
    built, content = proved
    path = sealed(tmp_path / "certificate.json", content)
    code, output = verify(built.firmware.folder, "--check", path, "--profile", "ibex-small", "--optimise", "-O2")
    assert code == 0
    for line in (
        f"engine    ibex-small, profile {built.engine.hash()}, {content['engine']['core']}",
        f"compiler  clang -O2, {subject_of(built).compiler_version}",
        f"image     {subject_of(built).image}",
        f"firmware  {subject_of(built).firmware}",
    ):
        assert line in output.splitlines()


ANOTHER = {
    ("--profile", "ibex-maxperf"): ("'ibex-small'", "ibex-maxperf"),
    ("--compiler", "gcc"): ("'clang' '-O2'", "gcc"),
    ("--optimise", "-O3"): ("'clang' '-O2'", "-O3"),
    ("--compiler", "clang", "--opt", "-Os"): ("'clang' '-O2'", "clang -Os"),
}


@pytest.mark.parametrize("asked", ANOTHER)
def test_a_certificate_of_another_than_asked_for_is_refused(
    asked: tuple[str, ...], proved: Proved, tmp_path: Path
) -> None:
    path = sealed(tmp_path / "certificate.json", proved[1])
    code, output = verify(proved[0].firmware.folder, "--check", path, *asked)
    assert code == 1
    found, wanted = map(re.escape, ANOTHER[asked])
    assert re.search(f"refused: .*{found}, not .*{wanted}", " ".join(output.split()))


def with_calibration(content: dict[str, Any]) -> dict[str, Any]:
    """The certificate with a calibration that no core measured."""
    edited = copy.deepcopy(content)
    edited["engine"]["calibration"]["instructions"] += 1
    return edited


@pytest.mark.slow
def test_without_the_core_the_calibration_is_believed_and_the_answer_says_so(proved: Proved, tmp_path: Path) -> None:
    path = sealed(tmp_path / "certificate.json", with_calibration(proved[1]))
    code, output = verify(proved[0].firmware.folder, "--check", path)
    assert (code, "core is not" in " ".join(output.split())) == (1, True)
    code, output = verify(proved[0].firmware.folder, "--check", path, "--no-core")
    shown = figures(output, "verify")
    assert (code, [word in shown["not run"] for word in ("calibration", "witness")]) == (0, [True, True])


LIES_WITHOUT_CORE = {
    "a smaller worst case": ("worst_case", {"exact": -1, "bound": -1, "rtl_cycles": -1}),
    "other cycles of the witness": ("worst_case", {"rtl_cycles": -1}),
    "less stack": (None, {"stack_bytes": -4}),
}


@pytest.mark.parametrize("lie", LIES_WITHOUT_CORE)
def test_without_the_core_every_other_claim_is_decided(
    lie: str, proved: Proved, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, content = proved
    part, changes = LIES_WITHOUT_CORE[lie]
    edited = copy.deepcopy(content)
    claims = edited["claims"] if part is None else edited["claims"][part]
    for name, change in changes.items():
        claims[name] += change

    def judge(certificate: Certificate) -> Recheck:
        return judged(certificate, built.firmware.folder, "bitwuzla", lambda _: None, CheckLimits(), core=False)

    monkeypatch.setattr(boundary, "rebuilt", lambda *_: built)
    monkeypatch.setattr(boundary, "calibrated_again", lambda *_: pytest.fail("the core was asked"))
    assert judge(sealed_model(content)).on_core is False
    with pytest.raises(Refused):
        judge(sealed_model(edited))


def test_a_check_on_the_core_says_that_it_was(proved: Proved, monkeypatch: pytest.MonkeyPatch) -> None:
    assert judging(monkeypatch, proved)(sealed_model(proved[1])).on_core is True


def test_where_no_core_can_be_built_the_check_names_the_option(
    proved: Proved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sealed(tmp_path / "certificate.json", proved[1])
    monkeypatch.setattr(boundary, "buildable", lambda: InputError("there is no Verilator"))
    with pytest.raises(InputError, match=r"no Verilator; .*--no-core"):
        verify(proved[0].firmware.folder, "--check", path)
    assert verify(proved[0].firmware.folder, "--check", path, "--no-core")[0] == 0
    with pytest.raises(InputError, match="--no-core is for --check"):
        verify(proved[0].firmware.folder, "--no-core")


def test_check_writes_nothing(proved: Proved, tmp_path: Path) -> None:
    path = sealed(tmp_path / "certificate.json", proved[1])
    with pytest.raises(InputError, match="leave out --out"):
        verify(proved[0].firmware.folder, "--check", path, "--out", tmp_path / "x")
    with pytest.raises(InputError, match="for --check"):
        verify(proved[0].firmware.folder, "--time-limit", 5)

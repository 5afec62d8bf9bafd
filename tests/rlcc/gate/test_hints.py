"""What a hint has one type asks for no less than what was refused."""

import ast
import importlib
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.documents import dump_json
from decision.policy.neighbourhood import Around
from emulator.firmware_folder import built
from rlcc import cli
from rlcc.gate.certified import certified
from rlcc.gate.check_cache import Remembered
from rlcc.gate.hints import Request, prove
from rlcc.recipe import EmulateOptions, GateOptions, Neighbourhood, Sizes
from rlcc.reports.html.reproduction import _limits
from verify.trusted.certificate import read_certificate
from verify.trusted.properties import load_properties

RLCC = Path(cli.__file__).parent / "gate"
ENGINE = EmulateOptions()
STEP = {"kind": "step", "at_least": 0.75, "at_most": 1.25}
MONOTONE = {"kind": "monotone", "feature": None}
OUTSIDE = {"share": 0.1, "action": 0.01}


def parsed(command: str) -> dict[str, Any]:
    """The options of a command as it is typed."""
    program, name, *arguments = shlex.split(command)
    assert program == "rlcc"
    found = importlib.import_module(f"rlcc.commands.{name}").command
    return dict(found.make_context(name, arguments).params)


@given(
    recipe=st.booleans(),
    teacher=st.booleans(),
    claims=st.sampled_from(["none", "unreadable", "nothing", "properties", "teacher", "both", "nonsense"]),
    share=st.sampled_from([0.2, 0.05, 0.9]),
    level=st.sampled_from(["-O2", "-Os"]),
)
def test_a_certificate_is_asked_for_again_with_all_it_claimed(
    recipe: bool, teacher: bool, claims: str, share: float, level: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("a folder")
    path = folder / "certificate.json"
    behaviour = [{"asked": STEP}, {"asked": MONOTONE}] if claims != "nonsense" else [{"asked": "?"}]
    data: dict[str, Any] = {"behaviour": behaviour} if claims in ("properties", "both", "nonsense") else {}
    data |= {"teacher": OUTSIDE | {"share": share}} if claims in ("teacher", "both") else {}
    if claims == "unreadable":
        path.write_text("{")
    elif claims != "none":
        path.write_text(dump_json(data))
    request = Request(folder / "r.toml" if recipe else None, folder / "teacher" if teacher else None, Around(0.2, 0.02))
    options = parsed(prove(folder / "firmware", EmulateOptions(optimise=level), path, request))
    assert (options["firmware"], options["out"], options["optimise"]) == (folder / "firmware", path, level)
    assert options["recipe_file"] == request.recipe
    if claims in ("teacher", "both"):
        assert options["teacher"] == request.teacher
        assert not teacher or options["around"] == pytest.approx(min(share, 0.2))
        assert not teacher or options["around_action"] == pytest.approx(0.01)
    if claims in ("properties", "both"):
        kept = [each.model_dump(mode="json") for each in load_properties(Path(options["properties"])).property]
        assert kept == [STEP, MONOTONE]
    if claims == "nonsense":
        assert options["properties"] == "all"
    if claims == "unreadable" and teacher and not recipe:
        assert (options["teacher"], options["properties"]) == (request.teacher, "all")


def test_a_refused_claim_of_a_distance_is_proved_again_by_what_the_gate_says(
    good: Path, tmp_path: Path, rlcc: Callable[..., tuple[int, str, str]]
) -> None:
    """The hint is typed as it stands; the certificate that it makes holds, claims as much, and the gate takes it."""
    (tmp_path / "wanted.toml").write_text('format = 1\n[[property]]\nkind = "step"\nat_least = 0.5\nat_most = 1.5\n')
    teacher, path = good / "teacher", tmp_path / "certificate.json"
    proof = ["--teacher", teacher, "--around", "10 %", "--properties", tmp_path / "wanted.toml", "--out", path]
    assert rlcc("verify", good / "firmware", *proof)[0] == 0
    first = read_certificate(path)
    assert first.teacher is not None
    data = json.loads(path.read_text())
    data["teacher"]["bound"] /= 2
    path.write_text(dump_json(data))
    build = built(good / "firmware", profile=ENGINE.profile)
    request = Request(teacher=teacher, around=Around(0.2, 0.02))
    refused = certified(build, path, ENGINE, remembered=Remembered(use=False), request=request)
    assert not refused.check.passed
    command = refused.check.detail.partition(": ")[2]
    assert rlcc(*shlex.split(command)[1:])[0] == 0
    again = read_certificate(path)
    assert again.teacher is not None
    assert (again.teacher.share, again.teacher.action) == (0.1, 0.02)
    assert [claim.asked for claim in again.behaviour] == [claim.asked for claim in first.behaviour]


def test_a_recipe_brings_what_its_gate_asks_for(
    good: Path, tmp_path: Path, rlcc: Callable[..., tuple[int, str, str]]
) -> None:
    recipe = tmp_path / "r.toml"
    text = (good / "good.toml").read_text().replace('"teacher"', f'"{good / "teacher"}"')
    around = "[gate.neighbourhood]\nshare = 0.1\naction = 0.01\n"
    recipe.write_text(f'{text}\n{around}\n[[gate.property]]\nkind = "step"\nat_least = 0.5\nat_most = 1.5\n')
    path = tmp_path / "certificate.json"
    assert rlcc("verify", good / "firmware", "--recipe", recipe, "--out", path)[0] == 0
    found = read_certificate(path)
    assert found.teacher is not None
    assert (found.teacher.share, found.teacher.action) == (0.1, 0.01)
    assert [claim.asked["kind"] for claim in found.behaviour] == ["step"]


@pytest.mark.parametrize("option", [["--bound"], ["--check", "c.json"]])
def test_a_recipe_is_of_a_proof(good: Path, option: list[str], refused: Callable[..., str]) -> None:
    assert "--recipe says what" in refused("verify", good / "firmware", "--recipe", "r.toml", *option)


def test_another_teacher_than_the_recipes_is_an_error_and_no_weaker_certificate(
    good: Path, tmp_path: Path, save_teacher: Callable[..., None], refused: Callable[..., str]
) -> None:
    save_teacher(tmp_path / "other", gain=0.5)
    recipe, path = tmp_path / "r.toml", tmp_path / "certificate.json"
    recipe.write_text((good / "good.toml").read_text().replace('"teacher"', '"other"'))
    assert "another teacher" in refused("verify", good / "firmware", "--recipe", recipe, "--out", path)
    assert not path.exists()


MENDS = re.compile(r"(again|prove|judge|make|attest|mend)[^.]*: rlcc (verify|gate|attest|run)\b", re.IGNORECASE)


LESS = re.compile(
    r"(another|other|fewer|less) (scenarios?|seeds|networks|checks)|"
    r"(raise|widen|loosen|lift)[^.;]* (limit|tolerance|margin|max_outside|--max-)|"
    r"(leave|drop|skip)[^.;]* (check|proof|certificate|propert)",
    re.IGNORECASE,
)


def hints(source: str, said: re.Pattern[str] = MENDS) -> list[str]:
    """Texts of a module, those of docstrings left out, that tell to type a command which judges."""
    tree = ast.parse(source)
    documents = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            text = node.value
        else:
            continue
        if said.search(text):
            found.append(text)
    return found


@pytest.mark.parametrize("room", ["rlcc", "verify", "emulator", "decision", "codegen", "distill", "netsim", "teachers"])
def test_a_command_that_judges_is_named_by_one_module_only(room: str) -> None:
    """Elsewhere a hint would leave out what was asked for: it does not know it."""
    named = {str(file): hints(file.read_text()) for file in (RLCC.parents[1] / room).rglob("*.py")}
    assert not {file: texts for file, texts in named.items() if texts}


def test_no_row_of_the_gate_tells_to_judge_less() -> None:
    rows = [*RLCC.glob("*.py"), RLCC.parent / "attestation.py"]
    named = {path.stem: hints(path.read_text(), LESS) for path in rows}
    assert {"checks", "certified", "fidelity", "triggers"} <= named.keys()
    assert not {name: texts for name, texts in named.items() if texts}


@pytest.mark.parametrize(
    "line",
    [
        "x = 'give more seeds, or judge another scenario'",
        "x = f'{a} is over; raise the limit'",
        "x = 'leave out the proof'",
    ],
)
def test_a_hint_to_judge_less_is_seen(line: str) -> None:
    assert hints(line, LESS)


@pytest.mark.parametrize(
    "line",
    [
        'AGAIN = "prove the firmware again: rlcc verify"',
        'raise InputError(f"{path} is of another; prove this one: rlcc verify {firmware}")',
        'AGAIN = "make the reference again: rlcc gate"',
    ],
)
def test_a_hint_that_names_half_a_command_is_seen(line: str) -> None:
    assert hints(line)


LIMITED = GateOptions(
    budget="0.9 us",  # type: ignore[arg-type]
    neighbourhood=Neighbourhood(limit=0.1, share=0.3, action=0.01),
    sizes=Sizes(code=2048, stack=64),
    margin=0.25,
    proof=False,
)


def test_a_verdict_is_made_again_by_all_its_limits() -> None:
    options = parsed(" ".join(['rlcc gate firmware --budget "0.9 us"', *_limits(LIMITED)]))
    sizes = [options[f"max_{name}"] for name in ("code", "table", "context", "stack")]
    assert sizes == [2048, None, None, 64]
    assert (options["max_outside"], options["around_action"]) == (0.1, 0.01)
    assert (options["around"], options["margin"]) == (pytest.approx(0.3), pytest.approx(0.25))
    assert options["no_certificate"]
    assert not _limits(GateOptions(budget="1 us"))  # type: ignore[arg-type]

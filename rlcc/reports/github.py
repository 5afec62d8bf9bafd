"""Output for GitHub Actions: an annotation for each failed check at its line, and the job summary.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions: a command is a line of the output; what
stands in it is escaped, so that no figure or name can end it or begin another.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from rlcc.gate.verdict import Verdict
from rlcc.reports.markdown import markdown
from rlcc.reports.sarif import where


def running_there(environment: Mapping[str, str] = os.environ) -> bool:
    return environment.get("GITHUB_ACTIONS") == "true"


def failures(verdict: Verdict, firmware: Path) -> list[str]:
    """One line of output a failed check."""
    lines = []
    for check in verdict.failures():
        text = f"{check.name}: {check.value}, limit {check.limit}" + (f"; {check.detail}" if check.detail else "")
        file = _property(f"{where(firmware)}/{check.file or 'manifest.json'}")
        title = _property(f"rlcc gate: {check.group}")
        lines.append(f"::error file={file},line={max(check.line, 1)},title={title}::{_message(text)}")
    return lines


def refusal(sentence: str) -> str:
    """The annotation of a job that could not judge."""
    return f"::error title=rlcc gate could not run::{_message(sentence)}"


def summarise(verdict: Verdict, environment: Mapping[str, str] = os.environ) -> None:
    """Append the verdict to the job's summary, where there is one."""
    file = environment.get("GITHUB_STEP_SUMMARY")
    if file:
        with Path(file).open("a", encoding="utf-8") as summary:
            summary.write(markdown(verdict) + "\n")


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")

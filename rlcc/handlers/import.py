"""`rlcc import LOG`: a log of the user's own becomes rollouts with labels."""

from pathlib import Path

from decision.artefact.errors import InputError
from rlcc import stages
from rlcc.commands.console import stage


def handle(
    log: Path,
    policy: Path,
    columns: tuple[str, ...],
    teacher: Path | None,
    labels: str | None,
    allow_gaps: bool,
    out: Path,
) -> None:
    if teacher is not None and labels is not None:
        raise InputError("--teacher and --labels both label the log; give one of the two")
    with stage("import") as (figures, progress):
        stages.import_log(log, policy, out, columns, teacher, labels, allow_gaps, figures, progress)

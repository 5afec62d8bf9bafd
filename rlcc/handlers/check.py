"""`rlcc check TEACHER`: what rlcc reads a trained policy as, before anything is made from it."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.markup import escape
from rich.table import Table

from decision.artefact.documents import validate
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from distill.options import RolloutOptions
from netsim.baselines import by_name as baseline
from netsim.deployment import Deployment
from netsim.network import Network
from netsim.network_file import load as load_network
from rlcc.commands import teacher_sheet
from rlcc.commands.console import console, stage

if TYPE_CHECKING:
    from teachers.teacher import Teacher

CHECKED_DURATION = "20 ms"
"""Of the network whose rows the picture draws."""


def handle(
    teacher: Path,
    rows: tuple[str, ...],
    file: Path | None,
    picture: Path | None,
    scenario: str,
    network_file: Path | None,
    senders: str,
    period: int,
) -> int:
    from teachers.load import load_with_layout
    from teachers.parity import TOLERANCE, parity

    loaded, layout = load_with_layout(teacher)
    out = console()
    out.print(escape(teacher_sheet.headline(loaded)))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("column", "name", "unit", "meaning"):
        table.add_column(title, overflow="fold")
    for cells in teacher_sheet.columns(loaded, layout):
        table.add_row(*map(escape, cells))
    out.print(table)
    for text in rows:
        row = _row(text, len(teacher_sheet.columns(loaded, layout)))
        for line in teacher_sheet.decided(loaded.policy, teacher_sheet.outputs(loaded, layout, row)):
            out.print(escape(f"{text}: {line}"))
    if picture is not None:
        network = Network() if network_file is None else load_network(network_file)
        _draw(loaded, scenario, _deployed(loaded, network, senders, period), picture)
    if file is not None:
        same = parity(loaded, file)
        word, off = ("same" if same.passed else "OTHER"), f"{same.difference:.2g} ({TOLERANCE:g} allowed)"
        there = f"in row {same.worst}: {same.theirs:.6f} there, {same.ours:.6f} here"
        out.print(escape(f"{word}: {same.rows:,} rows of {file}, largest difference {off}, {there}"), soft_wrap=True)
        return 0 if same.passed else 1
    return 0


def _row(text: str, width: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    try:
        row = np.asarray([[float(number) for number in text.split(",")]])
    except ValueError:
        raise InputError(f"--row {text!r} is not numbers with commas between") from None
    if row.shape[1] != width:
        raise InputError(f"--row {text!r} has {row.shape[1]} numbers; the network takes {width}")
    return row


def _deployed(teacher: "Teacher", network: Network, senders: str, period_ps: int) -> Deployment:
    """Returns the network of the teacher's agents, and their place in it."""
    policy = teacher.policy if teacher.policy.trigger is None else teacher.policy.untriggered()
    agents = policy.observation.agents
    if agents.agent == "flow":
        return Deployment(network)
    return Deployment(network, agents, baseline(senders), period_ps=period_ps if agents.trigger == "period" else 0)


def _draw(loaded: "Teacher", scenario: str, deployment: Deployment, picture: Path) -> None:
    from distill.rollout import collect, teacher_policy
    from rlcc.reports.action_picture import picture as drawn

    options = validate(RolloutOptions, {"scenarios": [scenario], "duration": CHECKED_DURATION}, "rlcc check")
    with stage("picture") as (figures, progress):
        progress(f"{CHECKED_DURATION} of {scenario}")
        (run,) = collect(teacher_policy(loaded), options, deployment)
        rows, complete = run.trajectories.float_rows(loaded.policy.observation)
        if not complete.any():
            raise InputError(f"nobody decided anything in {CHECKED_DURATION} of {scenario}; choose another --scenario")
        write_atomically(picture, drawn(loaded, rows[complete]))
        figures |= {"picture": str(picture), "decisions": f"{int(complete.sum()):,} in {scenario}"}

"""Teacher, student and their difference around the state in which the student is furthest outside, side by side.

Over two of the signals, each a factor of ``SPAN`` up and down, on a logarithmic scale; all else is as in the state. The
cross is the state, the box what counts as around it: where the student's colour is none of the teacher's in the box, it
is outside.
"""

import io
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.ir.arrays import Floats
from decision.ir.formats import ACTION_BITS
from decision.policy.cells import act
from decision.policy.features import PreviousAction
from decision.policy.neighbourhood import Around
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names
from rlcc.gate.neighbourhood import teacher_actions
from teachers.teacher import Teacher
from verify.trusted.deviation import TeacherClaim

SPAN = 8.0
PLACES = 201
"""Along each axis."""
DPI = 144
KINDS = {".png": {"Software": None}, ".svg": {"Date": None}}
"""Metadata that is left out, so that the same claim gives the same bytes."""


def check_name(path: Path) -> None:
    """InputError where a picture cannot be written to ``path``."""
    if path.suffix not in KINDS:
        raise InputError(f"{path} is no picture's name; end it in {' or '.join(KINDS)}")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file, for example {path / 'distance.png'}")


def draw(student: Student, teacher: Teacher, claim: TeacherClaim, path: Path) -> None:
    """Write the picture of a claim."""
    observation = student.observation.with_window(max(student.observation.window, teacher.policy.observation.window))
    names, kinds = feature_names(observation), observation.features
    state = np.asarray([claim.witness[name] for name in names], dtype=np.float64)
    signals = [c for c in range(len(names)) if not isinstance(kinds[c % len(kinds)], PreviousAction)]
    x, y = (signals * 2)[0], (signals * 2)[1]
    axes = [_places(state[c], *claim.signals[names[c % len(kinds)]]) for c in (x, y)]
    rows = np.repeat(state[None], axes[0].size * axes[1].size, axis=0)
    grid = np.meshgrid(*axes)
    rows[:, x], rows[:, y] = grid[0].reshape(-1), grid[1].reshape(-1)
    theirs = teacher_actions(teacher, observation, rows, 0)
    ours = act(student, rows.astype(np.int64)[:, : student.observation.size]) / 2**ACTION_BITS
    around = [end[0] for end in Around(claim.share, claim.action).box(observation, state[None])]
    panels = {"teacher": theirs, "student": ours, "student - teacher": ours - theirs}
    figure = Figure(figsize=(12, 4), layout="constrained")
    most = max(abs(theirs).max(), abs(ours).max())
    for place, (title, values) in enumerate(panels.items(), start=1):
        panel = figure.add_subplot(1, 3, place)
        shape = grid[0].shape
        drawn = panel.pcolormesh(*axes, values.reshape(shape), cmap="RdBu", vmin=-most, vmax=most, rasterized=True)
        box = Rectangle((around[0][x], around[0][y]), *(around[1] - around[0])[[x, y]], fill=False, linewidth=1.2)
        panel.add_patch(box)
        panel.plot(state[x], state[y], "k+", markersize=9)
        panel.set(xscale="log", yscale="log", xlabel=names[x], title=title)
        if place == 1:
            panel.set_ylabel(names[y])
        figure.colorbar(drawn, ax=panel)
    rest = ", ".join(f"{name} = {claim.witness[name]}" for c, name in enumerate(names) if c not in (x, y))
    figure.suptitle(f"at most {claim.bound:.5f} outside, {claim.reached:.5f} here" + (f"; {rest}" if rest else ""))
    content = io.BytesIO()
    with rc_context({"svg.hashsalt": "rlcc"}):
        figure.savefig(content, format=path.suffix[1:], dpi=DPI, metadata=KINDS[path.suffix])
    write_atomically(path, content.getvalue())


def _places(value: float, low: int, high: int) -> Floats:
    """Integers around a value, within its range and above 0: the scale has none."""
    ends = max(value / SPAN, low, 1.0), min(SPAN * (value + 1.0), high)
    places: Floats = np.unique(np.rint(np.geomspace(*ends, PLACES)))
    return places

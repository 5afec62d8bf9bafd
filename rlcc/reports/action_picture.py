"""The teacher's action over the two columns of its row that move it most, as a picture (RL-CC figure 5, left)."""

import io

import numpy as np
from matplotlib.figure import Figure

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats
from decision.policy.actions import Scale
from decision.policy.policy import Policy
from rlcc.reports.column_importance import swept
from teachers.inference import outputs_of
from teachers.teacher import Teacher

CELLS = 160
"""A side."""
ENDS = (2, 95)
"""Percentiles of the rows: what is drawn of each column."""


def strongest(teacher: Teacher, rows: Floats) -> tuple[int, int]:
    """The two columns of the row that move the action most. InputError where fewer than two do."""
    ends = list(zip(*np.percentile(rows, ENDS, axis=0), strict=True))
    spread = swept(lambda states: _action(teacher, states)[:, None], np.median(rows, axis=0)[None], ends, CELLS)
    order = sorted(range(len(spread)), key=lambda column: -spread[column])[:2]
    if len(order) < 2 or not spread[order[1]] > 0:
        raise InputError("fewer than two columns of the row move the action in this network; choose another --scenario")
    return order[0], order[1]


def picture(teacher: Teacher, rows: Floats) -> bytes:
    """PNG: the action over the two strongest columns of ``rows``, the rows themselves as dots."""
    across, up = strongest(teacher, rows)
    low, high = np.percentile(rows, ENDS, axis=0)
    x, y = (np.linspace(low[c], high[c], CELLS) for c in (across, up))
    states = np.tile(np.median(rows, axis=0), (CELLS * CELLS, 1))
    states[:, across], states[:, up] = (grid.ravel() for grid in np.meshgrid(x, y))
    values = _action(teacher, states).reshape(CELLS, CELLS)
    figure = Figure(figsize=(6.4, 4.8), dpi=144, layout="constrained")
    axes = figure.add_subplot()
    most = float(np.abs(values - 1).max()) if isinstance(teacher.policy.action, Scale) else 0.0
    scale = {"cmap": "RdBu", "vmin": 1 - most, "vmax": 1 + most} if most else {"cmap": "viridis"}
    mesh = axes.pcolormesh(x, y, values, shading="nearest", rasterized=True, **scale)
    inside = rows[np.linspace(0, len(rows) - 1, min(len(rows), 1500)).astype(int)]
    axes.plot(inside[:, across], inside[:, up], ".", color="black", markersize=1.2, alpha=0.35)
    axes.set_xlim(x[0], x[-1])
    axes.set_ylim(y[0], y[-1])
    axes.set_xlabel(_name(teacher.policy, across))
    axes.set_ylabel(_name(teacher.policy, up))
    axes.set_title(f"{teacher.policy.name}: {_quantity(teacher.policy)}, other columns at their medians")
    figure.colorbar(mesh, ax=axes)
    held = io.BytesIO()
    figure.savefig(held, format="png")
    return held.getvalue()


def _quantity(policy: Policy) -> str:
    return "multiplier of the rate" if isinstance(policy.action, Scale) else policy.action.values[0]


def _action(teacher: Teacher, rows: Floats) -> Floats:
    """The first of what is decided [N]; an LSTM sees each row with an empty memory."""
    outputs = outputs_of(teacher, rows.astype(np.float32), np.arange(len(rows)))
    return teacher.policy.action.decided(outputs.astype(np.float64))[:, 0]


def _name(policy: Policy, column: int) -> str:
    age, feature = divmod(column, len(policy.observation.features))
    return f"{policy.observation.labels[feature]}_{age}" + (" (now)" if age == 0 else " (earlier)")

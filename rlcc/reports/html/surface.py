"""Teacher, student and their difference over two columns of what both observe (RL-CC figure 5), for a page to draw.

The teacher's values are computed here, a frame a position of the slider. The student's the page computes itself: it is
given the integer forest and the nodes that follow its sums, whose ranges a double holds exactly.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats
from decision.ir.forest import Forest
from decision.ir.formats import ACTION_BITS
from decision.ir.interpret import trace
from decision.ir.program import Op, Program, ProgramBuilder
from decision.policy.actions import Scale
from decision.policy.features import PccRlCongestion, PreviousAction, RlCcCongestion
from decision.policy.policy import Observation
from decision.policy.student import Student
from decision.policy.tree_decision import seen_names
from rlcc.gate.judgement import JudgedStates
from rlcc.reports.column_importance import swept
from teachers.inference import decide_states
from teachers.teacher import Teacher

Rows = NDArray[np.int64]
ENDS = (1, 99)
"""Percentiles of the states that the teacher met: what is drawn of a column."""
ACROSS, UP = 64, 48
"""Cells; fewer where a column has fewer integers."""
POSITIONS = (1, 10, 25, 50, 75, 90, 99)
"""Of the slider: percentiles of the older value."""
OLDER = 3
"""Columns that a slider may move."""
FRAMES_BYTES = 300_000
"""Of the teacher's frames, as the page holds them."""
ROWS = 90_000
"""States that the teacher is asked for, times the decisions that it looks back over."""
DOTS = 300
AROUND, STEPS = 4, 40
"""States beside the typical one around which columns are tried, and values of each."""
LONG = 8
"""An axis is, over so many times a quarter of the range that holds the middle half of the thresholds."""
FEW = 4
"""Thresholds that say nothing of where an axis matters."""
EXACT = 2**53
"""A page's numbers are doubles."""


@dataclass(frozen=True)
class SurfaceQuantity:
    """A decided value: ``origin + integer * step`` in physical units; ``low``, ``high``: the ends of the drawing."""

    name: str
    origin: float
    step: float
    low: float
    high: float
    diverges: bool
    """From 1, up and down."""
    apart: float
    """Greatest difference of both in what is drawn."""


@dataclass(frozen=True)
class Bend:
    """Bend of an axis with a long tail: places are asinh((value - centre) / scale)."""

    centre: float
    scale: float


@dataclass(frozen=True)
class Surface:
    """``page``: all that the page draws from; the rest stands in its words."""

    across: str
    up: str
    older: tuple[str, ...]
    quantities: tuple[SurfaceQuantity, ...]
    thresholds: int
    page: dict[str, Any]


def surface(student: Student, teacher: Teacher, states: JudgedStates) -> Surface:
    """InputError where fewer than two columns move the teacher, or the student's numbers do not fit a page's."""
    columns = _SurfaceColumns.of(student, states)
    scale = isinstance(student.action, Scale)
    x, y, others = _chosen(columns, teacher, scale)
    bends = [columns.bend(column, student.forest) for column in (x, y)]
    grid = [_places(columns, *axis) for axis in zip((x, y), (ACROSS, UP), bends, strict=True)]
    base = columns.typical()
    after = after_the_sums(student)
    sliders = _sliders(columns, others, grid, len(after.results), columns.back(teacher))
    frames = [_frame(base, x, y, grid, column, value) for column, values in sliders for value in values]
    theirs = [columns.decided(teacher, rows) for rows in frames]
    if not all(np.isfinite(values).all() for values in theirs):
        raise InputError("the teacher's decisions are not finite there")
    ours = [_physical(student, student_integers(student, rows[:, columns.of_student])) for rows in frames]
    quantities = _quantities(student, theirs, ours)
    packed = iter([_packed(values, quantities) for values in theirs])
    page = {
        "columns": [{"name": name, "words": columns.words(c)} for c, name in enumerate(columns.names)],
        "base": base.tolist(),
        "axes": [x, y],
        "grid": [places.tolist() for places in grid],
        "physical": [columns.physical(c, places) for c, places in zip((x, y), grid, strict=True)],
        "bends": [bend and vars(bend) for bend in bends],
        "thresholds": [columns.physical(c, columns.thresholds(student.forest, c), 1.0) for c in (x, y)],
        "sliders": [
            {
                "column": column,
                "values": values,
                "physical": columns.physical(column, values) if column >= 0 else [],
                "teacher": [next(packed) for _ in values],
            }
            for column, values in sliders
        ],
        "dots": [columns.physical(c, columns.some(c)) for c in (x, y)],
        "forest": _forest(student.forest, columns),
        "after": {
            "nodes": [[node.op.name, [] if node.op is Op.TREES else node.args, node.imm] for node in after.nodes],
            "results": after.results,
            "tables": after.tables,
        },
        "quantities": [vars(q) for q in quantities],
    }
    thresholds = sum(map(len, student.forest.thresholds().values()))
    older = tuple(columns.words(column) for column, _ in sliders if column >= 0)
    return Surface(columns.words(x), columns.words(y), older, quantities, thresholds, page)


@dataclass(frozen=True)
class _SurfaceColumns:
    """Columns of the states: those of the wider window, then what a trigger saved."""

    observation: Observation
    names: tuple[str, ...]
    rows: Rows
    of_student: tuple[int, ...]
    """Which of them each feature of the forest is."""

    @staticmethod
    def of(student: Student, states: JudgedStates) -> "_SurfaceColumns":
        names = seen_names(states.observation, student.trigger)
        return _SurfaceColumns(
            states.observation, names, states.rows, tuple(names.index(name) for name in student.forest.features)
        )

    @property
    def width(self) -> int:
        return len(self.observation.features)

    @property
    def observed(self) -> int:
        """How many of them a teacher sees."""
        return self.width * self.observation.window

    def feature(self, column: int) -> Any:
        """Returns the observed feature, or the saved one."""
        at = column if column < self.observed else column - self.observed
        return self.observation.features[at % self.width]

    def words(self, column: int) -> str:
        feature, lag = self.feature(column), column % self.observed // self.width
        if column >= self.observed:
            return f"{feature.words}, saved"
        back = lag if feature.decided is None else lag + 1
        if isinstance(feature, PreviousAction):
            return feature.words if lag == 0 else f"{feature.words}, {back} decisions ago"
        return f"{feature.words} now" if back == 0 else f"{feature.words}, {back} decision{'s' * (back > 1)} ago"

    def physical(self, column: int, integers: Sequence[int] | Rows, more: float = 0.0) -> list[float]:
        """In physical units; ``more``: of a step."""
        values = self.feature(column).float_of(np.asarray(integers, dtype=np.float64) + more)
        return [float(f"{value:.6g}") for value in values.tolist()]

    def typical(self) -> Rows:
        """The median of each, as an integer of one of the states."""
        return np.asarray(np.percentile(self.rows, 50, axis=0, method="inverted_cdf"), dtype=np.int64)

    def ends(self, column: int) -> tuple[float, float]:
        low, high = np.percentile(self.rows[:, column], ENDS, method="inverted_cdf")
        return float(low), float(high)

    def bend(self, column: int, forest: Forest) -> Bend | None:
        """Around where most of the student's questions are; None: the axis is linear."""
        asked = self.physical(column, self.thresholds(forest, column))
        if len(asked) < FEW:
            return None
        q1, middle, q3 = np.percentile(asked, (25, 50, 75)).tolist()
        first, last = self.physical(column, np.array(self.ends(column)))
        scale = max((q3 - q1) / 4, abs(last - first) / 200)
        return Bend(middle, scale) if abs(last - first) > LONG * scale else None

    def back(self, teacher: Teacher) -> int:
        """Decisions that a teacher looks back over for one."""
        window = self.observation.window
        return window + _warm_up(window) if teacher.policy.architecture.recurrent else window

    def decided(self, teacher: Teacher, rows: Rows | Floats) -> Floats:
        """Returns the teacher's decisions [N, values]."""
        seen = np.empty((len(rows), self.observation.window, self.width))
        for f, feature in enumerate(self.observation.features):
            seen[:, :, f] = feature.float_of(rows[:, f : self.observed : self.width].astype(np.float64))
        return decide_states(teacher, seen, _warm_up(self.observation.window))

    def thresholds(self, forest: Forest, column: int) -> list[int]:
        asked = forest.thresholds()
        return [t for f, ts in asked.items() if self.of_student[f] == column for t in ts]

    def some(self, column: int) -> Rows:
        """Returns some of the states."""
        places = np.unique(np.linspace(0, len(self.rows) - 1, DOTS).astype(int))
        return np.asarray(self.rows[places, column])


def _warm_up(window: int) -> int:
    """How often an LSTM sees the window's oldest decision before it: from an empty memory its first answers are not
    those of a flow under way."""
    return max(4, 8 - window)


def _chosen(columns: _SurfaceColumns, teacher: Teacher, scale: bool) -> tuple[int, int, list[int]]:
    """The two columns of the picture, and older ones by how far they move the teacher."""
    ends = [columns.ends(c) for c in range(columns.observed)]
    places = np.linspace(0, len(columns.rows) - 1, AROUND).astype(int)
    around = np.vstack([columns.typical(), columns.rows[places]])[:, : columns.observed]
    steps = max(min(STEPS, ROWS // (around.size * columns.back(teacher))), 5)
    spread = swept(lambda rows: columns.decided(teacher, rows), around.astype(np.float64), ends, steps)
    order = sorted(range(columns.observed), key=lambda c: -spread[c])
    kinds = [type(feature) for feature in columns.observation.features]
    seen = next((k for k, kind in enumerate(kinds) if issubclass(kind, RlCcCongestion | PccRlCongestion)), None)
    if scale and PreviousAction in kinds and seen is not None:
        x, y = kinds.index(PreviousAction), seen
    else:
        x, y = order[0], order[1] if len(order) > 1 else order[0]
        if x == y or not spread[y] > 0:
            raise InputError("fewer than two of the features move the teacher in these networks")
    rest = [c for c in order if c not in (x, y) and len(np.unique(columns.rows[:, c])) > 1]
    return x, y, sorted(rest, key=lambda c: c < columns.width)  # older ones first, each group by its strength


def _places(columns: _SurfaceColumns, column: int, count: int, bend: Bend | None) -> Rows:
    """Integers along an axis, even in its physical units: those are monotone in the integer, not always linear."""
    low, high = (int(end) for end in columns.ends(column))
    high = max(high, low + 1)
    float_of = columns.feature(column).float_of
    first, last = float_of(np.array([low, high], dtype=np.float64)).tolist()
    wanted = np.linspace(first, last, count)
    if bend is not None:
        begin, end = np.arcsinh((np.array([first, last]) - bend.centre) / bend.scale).tolist()
        wanted = bend.centre + bend.scale * np.sinh(np.linspace(begin, end, count))
    below, above = np.full(count, low), np.full(count, high)
    while (above - below > 1).any():
        middle = (below + above) // 2
        reached = (float_of(middle.astype(np.float64)) - first) * np.sign(last - first) <= abs(wanted - first)
        below, above = np.where(reached, middle, below), np.where(reached, above, middle)
    return np.unique(np.append(below, [low, high]))


def _sliders(
    columns: _SurfaceColumns, others: Sequence[int], grid: Sequence[Rows], quantities: int, back: int
) -> list[tuple[int, list[int]]]:
    """Which columns move, and where to: as many as there is room and time for. If none does, there is one frame."""
    cells = len(grid[0]) * len(grid[1])
    frames = min(FRAMES_BYTES // (cells * quantities * 8 // 3), ROWS // (cells * back // 2))
    sliders: list[tuple[int, list[int]]] = []
    for column in others[:OLDER]:
        at = np.percentile(columns.rows[:, column], POSITIONS, method="inverted_cdf").astype(np.int64)
        values = np.unique(at).tolist()
        if len(values) > 1 and len(values) <= frames:
            sliders.append((column, values))
            frames -= len(values)
    return sliders or [(-1, [0])]


def _frame(base: Rows, x: int, y: int, grid: Sequence[Rows], column: int, value: int) -> Rows:
    """The states of a frame, row by row of the picture."""
    rows = np.tile(base, (len(grid[0]) * len(grid[1]), 1))
    if column >= 0:
        rows[:, column] = value
    rows[:, x], rows[:, y] = np.tile(grid[0], len(grid[1])), np.repeat(grid[1], len(grid[0]))
    return rows


def after_the_sums(student: Student) -> Program:
    """Returns the program that follows the forest's sums, by the action map; its results are the decided values.
    InputError where a value may be more than a double tells apart."""
    if student.forest.outputs != student.action.sums + (student.trigger is not None):
        raise InputError("the student's trees score the entries of a table")
    b = ProgramBuilder(student.forest, student.observation.agents)
    args = (b.const(0),) * len(student.forest.features)
    results = student.action.integer(b, [b.add(Op.TREES, args, k) for k in range(student.action.sums)])
    products = [b.nodes[x].high * b.nodes[y].high for x, y in (n.args for n in b.nodes if n.op is Op.MUL_SHR)]
    if any(not -EXACT < n.low <= n.high < EXACT for n in b.nodes) or any(product >= EXACT for product in products):
        raise InputError("the student's numbers do not fit the page's")
    return Program(b.interface, tuple(b.nodes), (), tuple(results), b.forest, tuple(b.tables))


def student_integers(student: Student, rows: Rows) -> Rows:
    """Returns the student's decisions [N, values] on rows of its forest's features, in integers: the page must compute
    the same."""
    after, sums = after_the_sums(student), student.forest.evaluate(rows)
    zeros = np.zeros(len(rows), dtype=np.int64)
    event, params = (
        dict.fromkeys(names, zeros) for names in (after.interface.event_names, after.interface.param_names)
    )
    forced = {n: sums[:, node.imm] for n, node in enumerate(after.nodes) if node.op is Op.TREES}
    values = trace(after, event, params, {}, forced=forced)
    return np.stack([values[n] for n in after.results], axis=1)


def _physical(student: Student, integers: Rows) -> Floats:
    """Returns the decided values in physical units: a multiplier of the rate, or knobs."""
    if isinstance(student.action, Scale):
        return np.asarray(1.0 + integers / 2**ACTION_BITS, dtype=np.float64)
    return integers.astype(np.float64)


def _quantities(student: Student, theirs: Sequence[Floats], ours: Sequence[Floats]) -> tuple[SurfaceQuantity, ...]:
    """Returns the decided quantities, with their ends over all frames of both."""
    scale = isinstance(student.action, Scale)
    quantities = []
    for n, name in enumerate(student.action.values):
        drawn = np.concatenate([values[:, n] for values in (*theirs, *ours)])
        apart = max(float(np.abs(a[:, n] - b[:, n]).max()) for a, b in zip(theirs, ours, strict=True))
        low, high = float(drawn.min()), float(drawn.max())
        if scale:
            most = max(high - 1, 1 - low)
            quantities.append(
                SurfaceQuantity("multiplier of the rate", 1.0, 2.0**-ACTION_BITS, 1 - most, 1 + most, True, apart)
            )
        else:
            quantities.append(SurfaceQuantity(name, 0.0, 1.0, low, high, False, apart))
    return tuple(quantities)


def _packed(values: Floats, quantities: Sequence[SurfaceQuantity]) -> list[str]:
    """Returns 16 bits per cell for each quantity, from its lowest to its highest, as base64."""
    told = []
    for n, q in enumerate(quantities):
        share = (values[:, n] - q.low) / (q.high - q.low or 1.0)
        told.append(base64.b64encode(np.rint(share * 65535).astype("<u2").tobytes()).decode())
    return told


def _forest(forest: Forest, columns: _SurfaceColumns) -> dict[str, Any]:
    """The forest over the columns of the page's states."""
    return {**forest.to_json(), "features": list(columns.of_student)}

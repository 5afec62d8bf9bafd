"""The integer network: a teacher's MLP or LSTM after quantisation, exactly, and its NumPy meaning.

    inputs    int16   what the observation gives, zero where nothing was observed yet
    layer     y = clamp(requantised(W x + b), 0, high)          ReLU; W int8, x and y int8 or int16, sums int32
    lstm      z = requantised(W x + b) + requantised(V h)       gates i, f, g, o, Q12; those of i, f and o halved
              c = f c + i g,  h = o tanh(c)                     sigmoid(2 z) = (1 + tanh(z)) / 2: one table
    output    z = requantised(W h + b), Q12; the action (Q16) is looked up: it holds tanh and the action map in one
    choice    z = requantised(W h + b), all in one unit; of each group of rows the place of the greatest, the first of
              equals

Requantised is a multiplication and a shift: floor(2^lift * sum * scale / 2^32), a scale a row. The half step that
makes a floor a rounding is in the bias. Both tables are linear between their entries. Nothing can overflow for any
inputs of their types: ``Network`` checks it when it is made.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.arrays import Integers

INPUT_MAGNITUDE = 2**15
GATE_BITS = 12
"""Fraction bits of what tanh is looked up for: int16 then spans -8..8, where tanh is 1 - 2e-7."""
GATE_MAX = 2**15 - 1
UNIT_BITS = 15
"""Fraction bits of what tanh and sigmoid give."""
TANH_STEP_BITS = 7
TANH_Q15 = (
    0, 1024, 2045, 3063, 4075, 5079, 6073, 7056, 8025, 8980, 9919, 10840, 11742, 12625, 13486, 14325, 15142, 15936,
    16706, 17451, 18173, 18869, 19541, 20189, 20812, 21411, 21986, 22537, 23065, 23570, 24053, 24515, 24955, 25375,
    25775, 26156, 26518, 26863, 27190, 27501, 27796, 28075, 28340, 28592, 28829, 29054, 29267, 29469, 29659, 29839,
    30009, 30169, 30321, 30464, 30599, 30726, 30846, 30959, 31066, 31166, 31261, 31350, 31435, 31514, 31588, 31658,
    31725, 31787, 31845, 31900, 31952, 32001, 32047, 32090, 32131, 32169, 32205, 32239, 32270, 32300, 32328, 32355,
    32380, 32403, 32425, 32446, 32465, 32483, 32500, 32516, 32531, 32546, 32559, 32572, 32583, 32595, 32605, 32615,
    32624, 32633, 32641, 32648, 32656, 32662, 32669, 32675, 32680, 32685, 32690, 32695, 32699, 32703, 32707, 32711,
    32714, 32717, 32720, 32723, 32726, 32728, 32731, 32733, 32735, 32737, 32739, 32740, 32742, 32744, 32745, 32746,
    32748, 32749, 32750, 32751, 32752, 32753, 32754, 32754, 32755, 32756, 32757, 32757, 32758, 32758, 32759, 32759,
    32760, 32760, 32761, 32761, 32761, 32762, 32762, 32762, 32763, 32763, 32763, 32763, 32764, 32764, 32764, 32764,
    32764, 32765, 32765, 32765, 32765, 32765, 32765, 32765, 32765, 32766, 32766, 32766, 32766, 32766, 32766, 32766,
    32766, 32766, 32766, 32766, 32766, 32766, 32766, 32766, 32766, 32766, 32766, 32767, 32767, 32767, 32767, 32767,
    32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767,
    32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767,
    32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767,
    32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767,
)  # fmt: skip
"""tanh at every 1/32 from 0 to 8, times 2^15 - 1 and rounded. Between two entries a line is off by 1e-4 at most, three
of the last bits."""
ACTION_STEP_BITS = 8
ACTION_ENTRIES = 257
"""The action at every 1/16 from -8 to 8: off by 4e-4 of its range at most, and next to nothing around 0."""


@dataclass(frozen=True)
class Matrix:
    """A product with int8 weights [rows, columns], requantised (see the module's docstring)."""

    weights: tuple[tuple[int, ...], ...]
    bias: tuple[int, ...]
    scale: tuple[int, ...]
    lift: int

    def __post_init__(self) -> None:
        rows = len(self.weights)
        if (
            not rows
            or len({len(row) for row in self.weights}) != 1
            or len(self.bias) != rows
            or len(self.scale) != rows
        ):
            raise InputError("a matrix of the network has rows of different lengths; emit it again")
        if any(not -127 <= w <= 127 for row in self.weights for w in row):
            raise InputError("a weight of the network does not fit -127..127; emit it again")
        if any(not 0 <= s < 2**31 or s % 2 for s in self.scale) or not 0 <= self.lift < 31:
            raise InputError("a scale of the network is odd or does not fit 31 bits; emit it again")

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.weights), len(self.weights[0])

    @cached_property
    def _exact(self) -> NDArray[np.float64]:
        """The weights as doubles: sums below 2^53 are exact, and the BLAS is fast."""
        return np.array(self.weights, dtype=np.float64).T

    def sums(self, x: Integers) -> Integers:
        """The accumulators [N, rows] for ``x`` [N, columns]."""
        product: Integers = (x.astype(np.float64) @ self._exact).astype(np.int64)
        return product + np.array(self.bias, dtype=np.int64)

    def __call__(self, x: Integers) -> Integers:
        """Requantised products [N, rows] for ``x`` [N, columns]."""
        return ((self.sums(x) << self.lift) * np.array(self.scale, dtype=np.int64)) >> 32

    def check(self, magnitude: int, where: str) -> None:
        """InputError where an accumulator could leave int32 for ``x`` up to ``magnitude``."""
        for weights, bias in zip(self.weights, self.bias, strict=True):
            if (abs(bias) + magnitude * sum(map(abs, weights))) << self.lift >= 2**31:
                raise InputError(f"a sum of {where} can leave 32 bits; quantise to fewer bits")


@dataclass(frozen=True)
class Layer:
    """Fully connected, with ReLU: values 0..high, 127 (int8) or 32767 (int16)."""

    matrix: Matrix
    high: int

    def __call__(self, x: Integers) -> Integers:
        return np.clip(self.matrix(x), 0, self.high)


@dataclass(frozen=True)
class Lstm:
    """Rows of both matrices: gates i, f, g, o of all units, in Q12; those of i, f and o at half their value.

    ``cell_bits``: fraction bits of the cells (int16); ``hidden_bits``: of the hidden values, 7 (int8) or 15 (int16).
    """

    input: Matrix
    recurrent: Matrix
    cell_bits: int
    hidden_bits: int

    def __post_init__(self) -> None:
        rows, units = self.recurrent.shape
        if rows != 4 * units or self.input.shape[0] != rows or any(self.recurrent.bias):
            raise InputError("the LSTM's matrices do not fit each other; emit it again")
        if not 1 <= self.cell_bits <= GATE_BITS or self.hidden_bits not in (7, 15):
            raise InputError("the LSTM's state has a format that there is not; emit it again")

    @property
    def units(self) -> int:
        return self.recurrent.shape[1]

    @property
    def hidden_max(self) -> int:
        return (1 << self.hidden_bits) - 1

    def __call__(self, x: Integers, hidden: Integers, cell: Integers) -> tuple[Integers, Integers]:
        """New hidden values and cells, all [N, units]."""
        z = np.clip(self.input(x) + self.recurrent(hidden), -GATE_MAX, GATE_MAX)
        gates = tanh_of(z)
        i, f, g, o = (gates[:, k * self.units : (k + 1) * self.units] for k in range(4))
        i, f, o = (((1 << UNIT_BITS) + gate) >> 1 for gate in (i, f, o))
        new = (f * cell + ((i * g) >> (UNIT_BITS - self.cell_bits)) + (1 << (UNIT_BITS - 1))) >> UNIT_BITS
        new = np.clip(new, -GATE_MAX, GATE_MAX)
        spread = tanh_of(np.clip(new << (GATE_BITS - self.cell_bits), -GATE_MAX, GATE_MAX))
        shift = 2 * UNIT_BITS - self.hidden_bits
        shown = (o * spread + (1 << (shift - 1))) >> shift
        return np.clip(shown, -self.hidden_max, self.hidden_max), new


@dataclass(frozen=True)
class Int8Network:
    """``inputs``: how many int16 it takes; ``action``: the action in Q16 at every 1/16 from -8 to 8, ascending; or
    ``groups``, where it chooses: how many rows of ``output`` each has."""

    inputs: int
    layers: tuple[Layer, ...]
    lstm: Lstm | None
    output: Matrix
    action: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        width, magnitude = self.inputs, INPUT_MAGNITUDE
        for number, layer in enumerate(self.layers):
            _check_width(layer.matrix, width, f"layer {number}")
            layer.matrix.check(magnitude, f"layer {number}")
            if layer.high not in (127, 2**15 - 1):
                raise InputError(f"layer {number} of the network gives neither int8 nor int16; emit it again")
            width, magnitude = layer.matrix.shape[0], layer.high
        if self.lstm is not None:
            _check_width(self.lstm.input, width, "the LSTM")
            self.lstm.input.check(magnitude, "the LSTM")
            width, magnitude = self.lstm.units, self.lstm.hidden_max + 1
            self.lstm.recurrent.check(magnitude, "the LSTM")
        _check_width(self.output, width, "the output")
        self.output.check(magnitude, "the output")
        if self.groups:
            self._check_choice()
            return
        if self.output.shape[0] != 1:
            raise InputError("a network has one output; a table of actions is not emitted as a network")
        if len(self.action) != ACTION_ENTRIES or list(self.action) != sorted(self.action):
            raise InputError(f"the network's actions are not {ACTION_ENTRIES} ascending entries; emit it again")
        if any(abs(a) >= 2**22 for a in self.action):
            raise InputError("an action of the network is beyond 22 bits; emit it again")

    def _check_choice(self) -> None:
        if self.lstm is not None:
            raise InputError("an LSTM that chooses rows is not emitted as a network; distil it into trees")
        if self.action or min(self.groups) < 1 or self.output.shape[0] != sum(self.groups):
            rows, groups = self.output.shape[0], ", ".join(map(str, self.groups))
            raise InputError(
                f"the network's {rows} outputs are not groups of {groups}, or are looked up; emit it again"
            )

    @property
    def decided(self) -> int:
        """The action, or the place of a row in each group."""
        return len(self.groups) or 1

    @property
    def units(self) -> int:
        """LSTM units; 0 without one."""
        return self.lstm.units if self.lstm else 0

    @property
    def operands(self) -> int:
        """Inputs, then the hidden values, then the cells."""
        return self.inputs + 2 * self.units

    @property
    def results(self) -> int:
        """Returns the number of results: the decided values, then the new hidden values, then the new cells."""
        return self.decided + 2 * self.units

    def operand_range(self, number: int) -> tuple[int, int]:
        """Returns the range of an operand."""
        hidden = self.inputs <= number < self.inputs + self.units
        magnitude = self.lstm.hidden_max + 1 if self.lstm and hidden else INPUT_MAGNITUDE
        return -magnitude, magnitude - 1

    def result_range(self, number: int) -> tuple[int, int]:
        """Returns the range of a result."""
        if self.groups:
            return 0, self.groups[number] - 1
        if number == 0:
            return self.action[0], self.action[-1]
        assert self.lstm is not None
        high = self.lstm.hidden_max if number <= self.units else GATE_MAX
        return -high, high

    def evaluate(self, operands: Integers) -> Integers:
        """Results [N, results] for operands [N, operands]."""
        x = operands[:, : self.inputs]
        for layer in self.layers:
            x = layer(x)
        state: list[Integers] = []
        if self.lstm is not None:
            first, second = self.inputs, self.inputs + self.units
            x, cell = self.lstm(x, operands[:, first:second], operands[:, second:])
            state = [x, cell]
        if self.groups:
            return self.chosen(self.output(x))
        z = np.clip(self.output(x), -GATE_MAX, GATE_MAX)
        return np.concatenate([self._action(z), *state], axis=1)

    def chosen(self, z: Integers) -> Integers:
        """Returns the place of the greatest output [N, rows] in each group [N, groups]."""
        parts = np.split(z, np.cumsum(self.groups)[:-1], axis=1)
        return np.stack([np.argmax(part, axis=1) for part in parts], axis=1).astype(np.int64)

    def multiply_accumulates(self) -> int:
        """Products of weights in one decision."""
        matrices = [layer.matrix for layer in self.layers] + [self.output]
        matrices += [self.lstm.input, self.lstm.recurrent] if self.lstm else []
        return sum(rows * columns for rows, columns in (m.shape for m in matrices))

    def lookups(self) -> int:
        """Values looked up in a table in one decision: gates, cells, the action."""
        return 5 * self.units + (not self.groups)

    def parameters(self) -> int:
        """Weights and biases."""
        matrices = [layer.matrix for layer in self.layers] + [self.output]
        matrices += [self.lstm.input] if self.lstm else []
        recurrent = 4 * self.units * self.units
        return sum(rows * columns + rows for rows, columns in (m.shape for m in matrices)) + recurrent

    def _action(self, z: Integers) -> Integers:
        table = np.array(self.action, dtype=np.int64)
        raised = z + 2**15
        place, rest = raised >> ACTION_STEP_BITS, raised & ((1 << ACTION_STEP_BITS) - 1)
        step = (table[place + 1] - table[place]) * rest
        value: Integers = table[place] + ((step + (1 << (ACTION_STEP_BITS - 1))) >> ACTION_STEP_BITS)
        return value


def tanh_of(z: Integers) -> Integers:
    """tanh in Q15 of ``z`` in Q12, |z| <= 32767: odd, linear between the entries of the table, rounded half up."""
    table = np.array(TANH_Q15, dtype=np.int64)
    size = np.abs(z)
    place, rest = size >> TANH_STEP_BITS, size & ((1 << TANH_STEP_BITS) - 1)
    step = (table[place + 1] - table[place]) * rest
    value = table[place] + ((step + (1 << (TANH_STEP_BITS - 1))) >> TANH_STEP_BITS)
    return np.asarray(np.where(z < 0, -value, value), dtype=np.int64)


def _check_width(matrix: Matrix, width: int, where: str) -> None:
    if matrix.shape[1] != width:
        raise InputError(f"{where} of the network takes {matrix.shape[1]} values, but gets {width}; emit it again")

"""Floating-point arithmetic that gives the same bits on every processor and any number of them.

Sums, products, quotients and square roots of IEEE 754 are rounded correctly everywhere; so is what is made of them one
element at a time, in a fixed order. NumPy's logarithms, exponentials and hyperbolic functions are not (they are other
code where a processor has AVX-512), nor are its matrix products and solvers (BLAS and LAPACK choose their kernels by
the processor, and split sums by the number of processors). Every number that decides a byte of an artefact is computed
here.

`exp`, `log` and `log1p` of a float are a float, fifty times as fast as of an array of one element, and the same bits.
Accuracy: `exp`, `log`, `log1p`, `expm1` and `tanh` within 3 units in the last place of float64, `erf` within 1e-14.
"""

import math
from typing import Any, overload

import numpy as np

from decision.ir.arrays import Floats

LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
"""ln 2 in two parts; the first has 33 bits, so that its product with an exponent is exact."""
INVERSES = tuple(1.0 / odd for odd in range(25, 1, -2))
"""Coefficients of artanh's series, from the last but one on."""
ROOT_HALF = 0.7071067811865476
ERF_TERMS = 150
"""Terms of erf's series; at 6, where the largest are the 36th, the rest is below 1e-16 of the sum."""
TWO_BY_ROOT_PI = 1.1283791670955126
PANEL, CELLS = 64, 1 << 14
"""Columns that a factorisation takes at a time, and entries that stay in the cache."""


@overload
def exp(x: float) -> float: ...
@overload
def exp(x: Any) -> Floats: ...
def exp(x: Any) -> float | Floats:
    """e^x: x = k ln 2 + r with |r| <= ln 2 / 2, and Taylor's polynomial for e^r."""
    if isinstance(x, float):
        x = min(max(float(x), -800.0), 800.0)
        k = round(x / (LN2_HIGH + LN2_LOW))
        one: float = 1.0 + _less_one((x - k * LN2_HIGH) - k * LN2_LOW, 14)
        return one * math.ldexp(1.0, k // 2) * math.ldexp(1.0, k - k // 2)
    x = np.clip(np.asarray(x, dtype=np.float64), -800.0, 800.0)
    k = np.rint(x / (LN2_HIGH + LN2_LOW))
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    half = np.trunc(k / 2)  # 2^k alone may be no normal number
    with np.errstate(over="ignore"):  # to infinity
        power: Floats = np.ldexp(np.ldexp(1.0 + _less_one(r, 14), half.astype(np.int32)), (k - half).astype(np.int32))
    return power


def expm1(x: Any) -> Floats:
    """e^x - 1."""
    x = np.asarray(x, dtype=np.float64)
    small = np.abs(x) < 0.5
    value: Floats = np.where(small, _less_one(np.where(small, x, 0.0), 18), exp(x) - 1.0)
    return value


def _less_one(x: Any, terms: int) -> Any:
    """e^x - 1 by so many terms of Taylor's series: x (1 + x/2 (1 + x/3 (..)))."""
    total = 1.0
    for n in range(terms, 1, -1):
        total = 1.0 + x * total / n
    return x * total


@overload
def log(x: float) -> float: ...
@overload
def log(x: Any) -> Floats: ...
def log(x: Any) -> float | Floats:
    """The natural logarithm of positive numbers: x = 2^k m with m from sqrt(1/2) to sqrt(2), and the series of
    ln m = 2 artanh((m - 1) / (m + 1))."""
    if isinstance(x, float):
        part, power = math.frexp(x)
        one: float = _log_of(2.0 * part, power - 1) if part < ROOT_HALF else _log_of(part, power)
        return one
    m, k = np.frexp(np.asarray(x, dtype=np.float64))
    low = m < ROOT_HALF
    value: Floats = _log_of(np.where(low, 2.0 * m, m), np.where(low, k - 1, k))
    return value


def _log_of(m: Any, k: Any) -> Any:
    """ln(2^k m)."""
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    total = 1.0 / 27.0
    for inverse in INVERSES:
        total = total * z + inverse
    # ln m = f - f^2 / 2 + s (f^2 / 2 + R): what is small is added last.
    half = 0.5 * f * f
    rest = s * (half + 2.0 * total * z)
    return k * LN2_HIGH - ((half - (rest + k * LN2_LOW)) - f)


@overload
def log1p(x: float) -> float: ...
@overload
def log1p(x: Any) -> Floats: ...
def log1p(x: Any) -> float | Floats:
    """ln(1 + x) for x above -1."""
    if isinstance(x, float):
        u = 1.0 + float(x)
        return float(x) if u == 1.0 else log(u) * (float(x) / (u - 1.0))
    x = np.asarray(x, dtype=np.float64)
    u = 1.0 + x
    lost = np.where(u == 1.0, 1.0, u - 1.0)
    value: Floats = np.where(u == 1.0, x, log(u) * (x / lost))
    return value


def tanh(x: Any) -> Floats:
    x = np.asarray(x, dtype=np.float64)
    e = expm1(-2.0 * np.minimum(np.abs(x), 22.0))
    value: Floats = np.copysign(-e / (e + 2.0), x)
    return value


def erf(x: Any) -> Floats:
    """The error function: 2 / sqrt(pi) e^(-x^2) times the sum of 2^n x^(2n+1) / (2n+1)!!, whose terms have one sign."""
    x = np.clip(np.asarray(x, dtype=np.float64), -6.0, 6.0)  # beyond, the result is 1 in float64
    square = x * x
    total = np.ones_like(x)
    for n in range(ERF_TERMS, 0, -1):
        total = 1.0 + total * (2.0 * square / (2 * n + 1))
    value: Floats = np.clip(TWO_BY_ROOT_PI * exp(-square) * x * total, -1.0, 1.0)
    return value


def product(rows: Any, matrix: Any) -> Floats:
    """``rows`` [N, K] times ``matrix`` [K, M] or [K], in float64, each sum in the order of K."""
    rows, matrix = np.asarray(rows, dtype=np.float64), np.asarray(matrix, dtype=np.float64)
    total = np.zeros((len(rows), *matrix.shape[1:]))
    for k in range(len(matrix)):
        total += np.multiply.outer(rows[:, k], matrix[k])
    return total


def solve(matrix: Floats, right: Floats) -> Floats:
    """x [N, M] with ``matrix`` x = ``right``, by the factors L D L' of a symmetric ``matrix`` [N, N].

    ``right`` may be [N]; so is x then. ValueError where the matrix is not positive definite."""
    left, x = matrix.astype(np.float64), right.astype(np.float64).reshape(len(right), -1)
    size = len(left)
    for first in range(0, size, PANEL):
        last = min(first + PANEL, size)
        for k in range(first, last):
            if not left[k, k] > 0:
                raise ValueError("the matrix is not positive definite")
            factor = left[k + 1 :, k] / left[k, k]
            left[k + 1 :, k + 1 : last] -= factor[:, None] * left[k + 1 : last, k]
            x[k + 1 :] -= factor[:, None] * x[k]
            left[k + 1 :, k] = factor
        _take_away(left, first, last)
    x /= np.diag(left)[:, None]
    for k in range(size - 1, 0, -1):
        x[:k] -= left[k, :k, None] * x[k]
    return x.reshape(right.shape)


def _take_away(left: Floats, first: int, last: int) -> None:
    """The part of the columns ``first`` to ``last`` in all behind them, below the diagonal, column by column; some rows
    at a time, which stay in the cache."""
    columns = np.ascontiguousarray((left[last:, first:last] * np.diag(left)[first:last]).T)
    top = last
    while top < len(left):
        end = min(top + max(1, CELLS // (top - last + PANEL)), len(left))
        block, part = left[top:end, last:end].copy(), np.empty((end - top, end - last))
        for k in range(last - first):
            np.multiply(left[top:end, first + k, None], columns[k, : end - last], out=part)
            block -= part
        left[top:end, last:end] = block
        top = end


def interpolated(x: Any, at: Any, values: Any) -> Floats:
    """Linear interpolation at ``x`` [N] between ``values`` [M] at the ascending places ``at`` [M]; beyond an end its
    value."""
    x, at, values = (np.asarray(each, dtype=np.float64) for each in (x, at, values))
    place = np.clip(np.searchsorted(at, x, side="right") - 1, 0, len(at) - 2)
    slope = (values[place + 1] - values[place]) / np.where(at[place + 1] > at[place], at[place + 1] - at[place], 1.0)
    between: Floats = values[place] + slope * (x - at[place])
    return np.where(x <= at[0], values[0], np.where(x >= at[-1], values[-1], between))

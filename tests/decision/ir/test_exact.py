"""Own arithmetic beside that of a wider type, and the bits that it has on every processor."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from bench.same_bytes import ENVIRONMENTS
from decision.ir import exact

RANDOM = np.random.default_rng(1)
AROUND = np.concatenate(
    [RANDOM.uniform(-700, 700, 20_000), RANDOM.normal(size=20_000), RANDOM.normal(size=20_000) * 1e-6, [0.0, 0.5, -0.5]]
)
POSITIVE = np.concatenate(
    [np.exp(AROUND[:20_000]), RANDOM.uniform(0.4, 2.5, 20_000), 1 + AROUND[40_000:], [5e-324, 1.0, np.sqrt(0.5)]]
)
ABOVE = np.concatenate([RANDOM.uniform(-1, 10, 20_000), -RANDOM.uniform(0, 1, 20_000), AROUND[40_000:]])
FUNCTIONS: dict[str, Any] = {"exp": AROUND, "expm1": AROUND, "tanh": AROUND, "log": POSITIVE, "log1p": ABOVE}


@pytest.mark.parametrize(("name", "x"), FUNCTIONS.items(), ids=FUNCTIONS)
def test_functions_are_right_to_three_units_in_the_last_place(name: str, x: Any) -> None:
    true = getattr(np, name)(x.astype(np.longdouble))
    off = np.abs(getattr(exact, name)(x).astype(np.longdouble) - true) / np.spacing(np.abs(true.astype(np.float64)))
    assert float(off.max()) < 3


@pytest.mark.parametrize(
    ("name", "low", "high"), [("exp", -900.0, 900.0), ("log", 5e-324, 1.7e308), ("log1p", -0.9999999, 1.7e308)]
)
@given(data=st.data())
@settings(max_examples=examples(1000))
def test_a_float_has_the_bits_of_an_array(name: str, low: float, high: float, data: st.DataObject) -> None:
    x, function = data.draw(st.floats(low, high) | st.sampled_from([low, high, 1.0, 0.5, 1e-300])), getattr(exact, name)
    value = function(x)
    assert type(value) is float
    assert type(function(np.float64(x))) is float
    assert value.hex() == float(function([x])[0]).hex()


def test_ends() -> None:
    assert exact.exp([0.0, -1e9, -np.inf]).tolist() == [1.0, 0.0, 0.0]
    assert exact.exp([1e9, np.inf]).tolist() == [np.inf, np.inf]
    assert exact.tanh([0.0, 1e9, -1e9]).tolist() == [0.0, 1.0, -1.0]
    assert exact.log([1.0]).tolist() == exact.log1p([0.0]).tolist() == exact.expm1([0.0]).tolist() == [0.0]


@given(st.integers(0, 10**6), st.integers(1, 200), st.integers(1, 3))
@settings(deadline=None, max_examples=examples(30))
def test_a_definite_system_is_solved(seed: int, size: int, sides: int) -> None:
    rng = np.random.default_rng(seed)
    root, right = rng.normal(size=(size, size)), rng.normal(size=(size, sides))
    matrix = root @ root.T + 0.1 * np.eye(size)
    np.testing.assert_allclose(matrix @ exact.solve(matrix, right), right, atol=1e-9)
    assert np.array_equal(exact.solve(matrix, right[:, 0]), exact.solve(matrix, right)[:, 0])


def test_what_is_not_definite_is_refused() -> None:
    with pytest.raises(ValueError, match="definite"):
        exact.solve(np.array([[1.0, 2.0], [2.0, 1.0]]), np.ones(2))


def test_a_product_is_summed_in_order() -> None:
    rows, matrix = RANDOM.normal(size=(50, 9)), RANDOM.normal(size=(9, 4))
    expected = [[0.0] * 4 for _ in range(50)]
    for n in range(50):
        for m in range(4):
            for k in range(9):
                expected[n][m] += float(rows[n, k]) * float(matrix[k, m])
    assert exact.product(rows, matrix).tolist() == expected


DIGEST = """
import hashlib, sys
import numpy as np
from decision.ir import exact
x, a = np.linspace(-5, 5, 4001), (np.arange(4900) * 2654435761 % 1000003 / 1000003).reshape(70, 70)
if sys.argv[1] == "ours":
    parts = [f(x) for f in (exact.exp, exact.expm1, exact.tanh)] + [exact.log(x + 5.5), exact.log1p(x / 5.01)]
    parts += [exact.solve(exact.product(a, a.T) + np.eye(70), a[:, :2]), exact.product(a, a)]
else:
    parts = [np.linalg.solve(a @ a.T + np.eye(70), a[:, :2])]
print(hashlib.sha256(b"".join(p.tobytes() for p in parts)).hexdigest())
"""


OLDER = ENVIRONMENTS["an older one"]


def digest(whose: str, environment: Mapping[str, str]) -> str:
    here, env = Path(exact.__file__).parents[2], os.environ | environment
    command = [sys.executable, "-W", "ignore", "-c", DIGEST, whose]
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True, cwd=here).stdout


def test_an_older_processor_has_the_same_bits() -> None:
    assert digest("ours", {}) == digest("ours", OLDER)
    assert digest("library's", {}) != digest("library's", OLDER), "the other processor is none"


@given(st.integers(0, 10**6), st.integers(2, 9))
@settings(deadline=None, max_examples=examples(30))
def test_what_lies_between_is_on_the_line(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    at, values = np.sort(rng.random(count)), np.sort(rng.random(count))
    x = np.concatenate([rng.uniform(-0.2, 1.2, 50), at])
    np.testing.assert_allclose(exact.interpolated(x, at, values), np.interp(x, at, values), atol=1e-12)


DIFFER = re.compile(
    r"exp|exp2|expm1|log|log2|log10|log1p|pow|power|float_power|cbrt|hypot|a?(rc)?(sin|cos|tan)h?|linalg|interp|polyfit|"
    r"v?dot|inner|matmul|tensordot|einsum|convolve|correlate|(standard_|log)?normal|(standard_)?exponential|geometric|"
    r"gamma|beta|poisson"
)
"""Functions of math and NumPy, and draws, whose bits may differ from processor to processor."""
OWNERS = ("np", "numpy", "math", "rng", "random")
WAY = ("decision", "netsim", "distill", "codegen", "teachers/inference.py", "teachers/folding.py", "teachers/load.py")
"""From a teacher to its student and firmware. What trains: docs/how-to/train.md."""
ALLOWED = {
    ("decision/ir/network.py", "@"): "integers whose sums are below 2^53: exact in any order",
    ("codegen/tuning.py", "**"): "shown to people",
    ("distill/state_samples.py", "random.normal"): "rejection draws; the C library decides on a few in a hundred",
    ("netsim/statistics.py", "scipy.special"): "Student's t, of reports",
    ("netsim/workloads.py", "**"): "a square root, which IEEE 754 rounds",
    ("codegen/frontends/grid.py", "**"): "fractions",
}


def inexact(source: str) -> set[str]:
    """What a module's text has of matrix products, powers, and functions that differ."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.BinOp(op=ast.MatMult()) | ast.AugAssign(op=ast.MatMult()):
                found.add("@")
            case ast.BinOp(left, ast.Pow(), right):
                two = isinstance(left, ast.Constant) and (left.value == 2 or isinstance(right, ast.Constant))
                square = isinstance(right, ast.Constant) and right.value == 2
                if not (two or square):
                    found.add("**")
            case ast.Call(ast.Attribute(attr="argsort" | "argpartition" as name), _, keywords):
                stable = any(isinstance(k.value, ast.Constant) and k.value.value == "stable" for k in keywords)
                found |= set() if stable else {name}
            case ast.Attribute(ast.Name(id=owner), name) if owner in OWNERS and DIFFER.fullmatch(name):
                found.add(f"{owner}.{name}")
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in ("scipy", "math", "numpy"):
                found |= {f"{module}.{each.name}" for each in node.names if DIFFER.fullmatch(each.name)}
                found |= {module} if module.startswith("scipy") else set()
            case _:
                pass
    return found


def test_nothing_on_the_way_from_teacher_to_firmware_is_computed_elsewhere() -> None:
    root = Path(exact.__file__).parents[2]
    modules = [path for way in WAY for path in ([root / way] if way.endswith(".py") else (root / way).rglob("*.py"))]
    found = {(str(m.relative_to(root)), what) for m in modules for what in inexact(m.read_text())}
    assert found == set(ALLOWED)


@pytest.mark.parametrize(
    "line",
    [
        "rows @ weights.T",
        "rows @= weights",
        "np.linalg.solve(gram, right)",
        "numpy.tanh(x)",
        "math.log(2)",
        "rng.normal(0, 1)",
        "x ** 0.3",
        "np.argsort(x)",
        "x.argsort(kind='quicksort')",
        "from math import exp",
        "from scipy.optimize import nnls",
    ],
)
def test_what_differs_is_seen(line: str) -> None:
    assert inexact(f"import numpy as np\n{line}\n")

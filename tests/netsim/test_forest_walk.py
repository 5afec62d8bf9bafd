"""The simulator's walk: trees of any shape, several outputs, bit for bit the specification."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from decision.ir.forest import Branch, Forest, Leaf
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.ir.interpret import trace
from decision.ir.program import Op, Program, ProgramBuilder
from netsim import policies

PARAMS = {"capacity_bytes": 1_250_000}


def free_trees():
    rows = st.tuples(*[st.integers(0, 2**20)] * 3).map(Leaf)
    asked = st.tuples(st.integers(0, 2), st.integers(-5, 300))
    return st.recursive(
        rows, lambda inner: st.builds(lambda a, x, y: Branch(*a, x, y), asked, inner, inner), max_leaves=9
    )


def marking(trees: tuple[Leaf | Branch, ...]) -> Program:
    """Every knob a sum of its own."""
    b = ProgramBuilder(Forest(QUEUE_MARKING.event_names, trees, (10, 20, 30), 0), QUEUE_MARKING)
    args = tuple(map(b.event, QUEUE_MARKING.event_names))
    return b.finish(*(b.add(Op.TREES, args, k) for k in (2, 0, 1)))  # in whatever order they are asked for


@given(st.lists(free_trees(), max_size=4), st.integers(0, 2**32))
def test_every_node_has_the_value_of_the_specification(trees, seed):
    program = marking(tuple(trees))
    core = policies.program(program, policies.Installed(PARAMS)).build(1)
    for event in np.random.default_rng(seed).integers(0, 320, (10, 3)).tolist():
        columns = dict(zip(QUEUE_MARKING.event_names, event, strict=True))
        assert core.trace(event, []) == [int(v[0]) for v in trace(program, columns, PARAMS, {})]


def test_trees_that_look_at_two_sets_of_values_are_refused():
    b = ProgramBuilder(Forest(("a",), (Branch(0, 5, Leaf((1,)), Leaf((2,))),), (0,), 0), QUEUE_MARKING)
    first, second, third = (b.add(Op.TREES, (b.event(name),)) for name in QUEUE_MARKING.event_names)
    with pytest.raises(InputError, match="different values"):
        policies.program(b.finish(first, second, third), policies.Installed(PARAMS)).build(1)

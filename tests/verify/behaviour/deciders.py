"""Small policies by hand, as the proofs of behaviour see them."""

from drawing import FEATURES, make_student

from decision.ir.forest import Node, oblivious
from decision.policy.rate import multiplied
from decision.policy.student import Student
from verify.behaviour.loops import Loop
from verify.behaviour.split_decision import Decided, decided

RISE, FALL = 13107, -10923
"""Of a step of 0.2, Q16: times 1.2, and by 1.2."""


def policy(*trees: Node, window: int = 2, bias: int = 0) -> Student:
    """RL-CC's features: columns action_1, congestion_q20, action_2, congestion_q20_1."""
    kinds = [FEATURES["previous_action"], FEATURES["rl_cc_congestion"]]
    return make_student(kinds, {"kind": "tanh_map", "step": 0.2}, trees, window=window, bias=bias)


def split(column: int, threshold: int, below: int, above: int) -> Node:
    return oblivious([(column, threshold)], [below, above])


def decision(student: Student) -> Decided:
    program = student.program()
    scaled = multiplied(program)
    assert scaled is not None
    return decided(program, student.params(), scaled.multiplier, scaled.otherwise)


def loop(student: Student) -> Loop:
    return Loop(decision(student), student.observation)

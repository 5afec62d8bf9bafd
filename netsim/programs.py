"""Integer decision programs as the simulator's core interprets them."""

from decision.artefact.errors import InputError
from decision.ir.program import Op, Program
from decision.policy.rate import multiplied
from netsim import _core


def program_config(program: Program) -> "_core.ProgramConfig":
    flat = program.flatten()
    core = _core.ProgramConfig()
    nodes = []
    for op, args, imm in zip(flat["ops"], flat["args"], flat["imms"], strict=True):
        if op == Op.TREES:
            if core.tree_args not in ([], list(args)):
                raise InputError("the trees of this program look at different values; the simulator walks them once")
            core.tree_args, args = list(args), []
        a, b, c = [*args, 0, 0, 0][:3]
        nodes.append(_core.ProgramNode(op, a, b, c, imm))
    core.nodes = nodes
    core.trees = [_core.ProgramTree(*tree) for tree in flat["trees"]]
    core.tables = flat["tables"]
    core.bias = flat["bias"]
    core.state_nodes = flat["state_nodes"]
    core.results = flat["results"]
    node = multiplied(program)
    core.multiplier_node = -1 if node is None else node.multiplier
    core.made_node = -1 if node is None or node.otherwise is None else node.otherwise
    return core

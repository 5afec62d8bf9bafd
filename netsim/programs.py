"""Integer decision programs as the simulator's core interprets them: plain lists of integers."""

from decision.artefact.errors import InputError
from decision.ir.forest import Leaf, Node
from decision.ir.program import Op, Program
from decision.policy.rate import multiplied
from netsim import _core


def program_config(program: Program) -> "_core.ProgramConfig":
    """Returns nodes, state and trees (``Op``: their meanings); raises InputError for a program with a network, which
    the core's interpreter does not know."""
    if program.network is not None:
        raise InputError("a network runs in the simulator as the C of its firmware folder; name that folder")
    core = _core.ProgramConfig()
    nodes = []
    for node in program.nodes:
        args = list(node.args)
        if node.op is Op.TREES:
            if core.tree_args not in ([], args):
                raise InputError("the trees of this program look at different values; the simulator walks them once")
            core.tree_args, args = args, []
        a, b, c = [*args, 0, 0, 0][:3]
        nodes.append(_core.ProgramNode(int(node.op), a, b, c, node.imm))
    core.nodes = nodes
    core.trees = [_core.ProgramTree(*_listed(tree)) for tree in program.forest.trees]
    core.tables = [list(table) for table in program.tables]
    core.bias = list(program.forest.bias)
    core.state_nodes = [s.node for s in program.state]
    core.results = list(program.results)
    rate = multiplied(program)
    core.multiplier_node = -1 if rate is None else rate.multiplier
    core.made_node = -1 if rate is None or rate.otherwise is None else rate.otherwise
    return core


def _listed(tree: Node) -> tuple[list[list[int]], list[list[int]]]:
    """A tree's branches [feature, threshold, below, above], the root first, and its leaves. A branch's sides are places
    among the branches, or -1 - k for leaf k."""
    branches: list[list[int]] = []
    ends: list[list[int]] = []

    def place(node: Node) -> int:
        if isinstance(node, Leaf):
            ends.append(list(node.value))
            return -len(ends)
        here = len(branches)
        branches.append([])
        branches[here] = [node.feature, node.threshold, place(node.below), place(node.above)]
        return here

    place(tree)
    return branches, ends

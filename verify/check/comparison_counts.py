"""Comparisons that the program adds up, each about inputs of its own: how many hold is asked, not which.

A path for each way that they can come out would be twice as many with every one of them. If the code makes words of 0
or 1 of these comparisons, their values need not be known; a branch on one, or on their sum, still asks.
"""

from decision.ir.program import Op, Program
from verify.check.meaning import input_name
from verify.check.terms import Term, var

About = frozenset[Term]
"""Inputs."""


def counted(program: Program) -> frozenset[About]:
    """Returns the inputs of each comparison in a sum of comparisons, if they are not all about the same inputs."""
    found: set[About] = set()
    added: list[dict[int, About]] = []
    """Of each node the comparisons that it is a sum of, none where it is no such sum."""
    about: list[About] = []
    compared: list[frozenset[About]] = []
    for n, node in enumerate(program.nodes):
        name = input_name(program, node)
        about.append(frozenset((var(name),)) if name else frozenset[Term]().union(*(about[a] for a in node.args)))
        ones = [compared[a] for a in node.args]
        parts = [added[a] for a in node.args]
        if node.op in (Op.GT, Op.EQ):
            compared.append(frozenset((about[n],)))
        else:
            compared.append(frozenset().union(*ones) if node.op in (Op.MIN, Op.MAX) and all(ones) else frozenset())
        if node.op in (Op.ADD, Op.SUB) and all(parts):
            added.append(parts[0] | parts[1])
            if len(set(added[n].values())) > 1:
                found = found.union(*(compared[k] for k in added[n]))
        else:
            added.append({n: about[n]} if compared[n] else {})
    return frozenset(found)

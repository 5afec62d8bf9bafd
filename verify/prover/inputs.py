"""From conditions on words back to inputs: a question over inputs alone, every definition and product exact."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from decision.ir.forest import Leaf, Node
from decision.ir.interface import GROUPS
from decision.ir.program import Op, Program
from verify.prover.expressions import FIRST, MODULUS, Pool, signed
from verify.prover.questions import Writer
from verify.prover.state import State

Condition = tuple[int, int, int]
"""A word (or a fact of 0 or 1), and the least and the greatest integer it stands for."""


def input_writer(state: State, program: Program, words: Iterable[int]) -> Writer:
    """A writer in which the cuts among the words' atoms are defined by the program, down to the inputs."""
    pool = state.pool
    known = {}
    for n, node in enumerate(program.nodes):
        if (key := program.key(node)) is not None:
            known[n] = pool.atom(key, node.low, node.high)
    writer = Definitions(pool, program, known, exact=True)
    atoms = sorted({a for word in words if word >= FIRST for a in pool.atoms(word)})
    for atom in atoms:
        kind, _, number = pool.name(atom).partition(".")
        if kind == "node":
            value = writer.node(int(number))
        elif kind == "tree":
            value = writer.tree(int(number))
        elif kind == "sum":
            last = int(number)
            first = last - last % len(program.forest.trees)
            value = writer.sum(range(first, last + 1), 0)
        else:
            writer.word(atom)
            continue
        writer.lines.append(f"(assert (= {writer.word(atom)} ((_ extract 31 0) {value})))")
    return writer


@dataclass
class Definitions(Writer):
    """A writer that also spells out the trees."""

    named: set[str] = field(default_factory=set)

    def tree(self, k: int) -> str:
        """Returns the name of what the leaf of a tree adds, 64 bits; ``k`` as in ``verify.prover.specialise.Cuts``."""
        forest = self.program.forest
        features = next(node.args for node in self.program.nodes if node.op is Op.TREES)
        output, number = divmod(k, len(forest.trees))

        def leaf(node: Node) -> str:
            if isinstance(node, Leaf):
                return f"#x{node.value[output] & (1 << 64) - 1:016x}"
            threshold = f"#x{node.threshold & (1 << 64) - 1:016x}"
            yes, no = leaf(node.above), leaf(node.below)
            return no if yes == no else f"(ite (bvsgt {self.node(features[node.feature])} {threshold}) {yes} {no})"

        name = f"t{k}"
        if name not in self.named:
            self.named.add(self._name(name, 64, leaf(forest.trees[number])))
        return name

    def sum(self, trees: Iterable[int], bias: int) -> str:
        total = f"#x{bias & (1 << 64) - 1:016x}"
        for k in trees:
            total = f"(bvadd {total} {self.tree(k)})"
        return total

    def _node(self, n: int) -> str:
        if self.program.nodes[n].op is Op.TREES:
            output, trees = self.program.nodes[n].imm, len(self.program.forest.trees)
            return self.sum(range(output * trees, (output + 1) * trees), self.program.forest.bias[output])
        return super()._node(n)


def example_of(pool: Pool, model: dict[int, int]) -> dict[str, int]:
    """The inputs of a solver's model, as integers that the fields hold."""
    example = {}
    for atom, word in model.items():
        name = pool.name(atom)
        if name.split(".")[0] in GROUPS:
            low, _ = pool.range(atom)
            example[name] = signed(word) if low < 0 else word % MODULUS
    return example

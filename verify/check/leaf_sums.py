"""How little and how much several trees can add together: their leaves are of one input, and some never meet.

The least is found best first. Trees that are bounded separately add up to a bound that is too low if their least
leaves contradict each other. The feature of the contradiction is then cut in two at a threshold of one of the trees,
and each half has a bound of its own. The lowest bound of all is always sound; it is attained once no leaves contradict
each other.
"""

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count

from decision.ir.forest import Forest, Leaf, Node

MAX_LEAVES = 400_000
"""So many are looked at for an end, up to a second of 50 trees of depth 6; then the lowest bound stands as it is."""
Box = dict[int, tuple[float, float]]
"""By feature what it is above, and at most."""
ANYWHERE = (float("-inf"), float("inf"))


def sum_range(forest: Forest, output: int) -> tuple[int, int]:
    """Bounds of an output, its bias included, over all values that the features can have."""
    bias = forest.bias[output]
    return bias + _least(forest.trees, output, 1), bias - _least(forest.trees, output, -1)


def _least(trees: Sequence[Node], output: int, sign: int) -> int:
    """Returns the least of ``sign`` times what the trees add."""
    order, looked = count(), 0
    waiting: list[tuple[int, int, Box, list[Box]]] = []

    def look(box: Box) -> int:
        ends = [list(_leaves(tree, box, output, sign)) for tree in trees]
        least = [min(of, key=lambda end: end[0]) for of in ends]
        heappush(waiting, (sum(value for value, _ in least), next(order), box, [where for _, where in least]))
        return sum(map(len, ends))

    looked += look({})
    while True:
        bound, _, box, places = waiting[0]
        contradicted = _contradicted(places)
        if contradicted is None or looked > MAX_LEAVES:
            return bound
        heappop(waiting)
        feature, threshold = contradicted
        low, high = box.get(feature, ANYWHERE)
        looked += look(box | {feature: (low, threshold)}) + look(box | {feature: (threshold, high)})


def _leaves(tree: Node, box: Box, output: int, sign: int) -> Iterator[tuple[int, Box]]:
    """Yields what each leaf adds that an input in the box can reach, and the part of the box with these inputs."""
    if isinstance(tree, Leaf):
        yield sign * tree.value[output], box
        return
    low, high = box.get(tree.feature, ANYWHERE)
    if high > tree.threshold:
        yield from _leaves(tree.above, box | {tree.feature: (max(low, tree.threshold), high)}, output, sign)
    if low < tree.threshold:
        yield from _leaves(tree.below, box | {tree.feature: (low, min(high, tree.threshold))}, output, sign)


def _contradicted(places: Sequence[Box]) -> tuple[int, float] | None:
    """A feature of which some places have no value in common, and a threshold that parts two of them; None where one
    input is in all."""
    together: Box = {}
    for place in places:
        for feature, (low, high) in place.items():
            above, most = together.get(feature, ANYWHERE)
            if max(low, above) >= min(high, most):
                return feature, min(high, most)
            together[feature] = max(low, above), min(high, most)
    return None

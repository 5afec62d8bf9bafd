"""From trees to their forms, pass by pass.

Each pass can be dumped and left out: `rlcc emit --dump-passes FOLDER`, `--exclude-passes PASS`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from codegen.choose import OBJECTIVES, Choice, Limits, choose
from codegen.engines import CostModel, engine_named
from codegen.form_names import TREE_FORMS
from codegen.passes.limits import limits
from codegen.passes.merge import merge
from codegen.passes.prune import prune
from codegen.passes.rebalance import rebalance
from codegen.passes.reorder import reorder
from codegen.walk import Walk
from decision.artefact.errors import InputError
from decision.artefact.suggest import choices
from decision.ir.forest import Leaf, Node, integer

PASSES = ("ratios", "ranks", "idle", "high-word", "prune", "merge", "limits", "reorder", "rebalance", "entries")
"""The passes over the arithmetic and over the trees, in their order. Each keeps every value for every input, so each
may be left out."""


@dataclass(frozen=True)
class Options:
    """How to compile. ``engine``: the cost model; ``optimise``: worst, mean or size; ``form``: one of
    ``codegen.form_names.TREE_FORMS``; ``without``: passes left out; ``one_function``: no function of its own for a
    tree."""

    engine: str = "ibex-small"
    optimise: str = "worst"
    form: str = "auto"
    limits: Limits = field(default_factory=Limits)
    without: tuple[str, ...] = ()
    one_function: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "engine": self.engine,
            "optimise": self.optimise,
            "form": self.form,
            "limits": vars(self.limits),
            "without": list(self.without),
            "one_function": self.one_function,
        }

    @staticmethod
    def from_json(data: Any) -> "Options":
        """Inverse of ``to_json``; InputError where it is not such a record."""
        try:
            limits = Limits(**{k: None if v is None else integer(v) for k, v in data["limits"].items()})
            options = Options(
                engine=str(data["engine"]),
                optimise=str(data["optimise"]),
                form=str(data["form"]),
                limits=limits,
                without=tuple(str(name) for name in data["without"]),
                one_function=data["one_function"] is True,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"how the firmware was compiled is not readable: {error!r}; emit it again") from None
        check(options)
        return options


@dataclass(frozen=True)
class Dump:
    """The trees after a pass, as text."""

    name: str
    text: str


def lower(walk: Walk, options: Options) -> tuple[Choice, list[Dump]]:
    """Run the passes and choose the form. InputError for an unknown option or limits that nothing keeps."""
    check(options)
    engine = engine_named(options.engine)
    dumps = [Dump("trees", text_of(walk))]
    for name, run in _runs(engine, options):
        if name not in options.without:
            walk = run(walk)
            dumps.append(Dump(name, text_of(walk)))
    choice = choose(walk, engine, options.limits, optimise=options.optimise, form=options.form)
    return choice, dumps


def check(options: Options) -> None:
    """InputError where an option is not one of those there are."""
    engine_named(options.engine)
    chosen: list[tuple[str, str, tuple[str, ...]]] = [("pass", name, PASSES) for name in options.without]
    chosen += [("form", options.form, TREE_FORMS), ("objective", options.optimise, OBJECTIVES)]
    for what, name, known in chosen:
        if name not in known:
            raise InputError(f"there is no {what} {name!r}; choose among {choices(name, known)}")


def _runs(engine: CostModel, options: Options) -> list[tuple[str, Callable[[Walk], Walk]]]:
    runs: list[tuple[str, Callable[[Walk], Walk]]] = [
        ("prune", prune),
        ("merge", merge),
        ("limits", limits),
        ("reorder", lambda walk: reorder(walk, engine, options.optimise)),
    ]
    # The form that is cheapest in the worst case may be dearer on average, and longer.
    return [*runs, ("rebalance", lambda walk: rebalance(walk, engine))] if options.optimise == "worst" else runs


def text_of(walk: Walk) -> str:
    """The trees as indented questions, for a reader and for a diff."""
    lines = [f"sum {k}: bias {s.bias}, clamped to {s.low}..{s.high}" for k, s in enumerate(walk.sums)]
    for place, tree in enumerate(walk.trees):
        lines += [f"  tree {place}", *_lines(tree, walk, 2)]
    return "\n".join(lines) + "\n"


def _lines(node: Node, walk: Walk, level: int) -> list[str]:
    pad = "  " * level
    if isinstance(node, Leaf):
        return [f"{pad}{' '.join(map(str, node.value))}"]
    question = f"{pad}{walk.features[node.feature].name} > {node.threshold}"
    return [question, *_lines(node.above, walk, level + 1), f"{pad}else", *_lines(node.below, walk, level + 1)]

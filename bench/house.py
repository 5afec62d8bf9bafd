"""The house: which package imports which, read from the imports and drawn. `python -m bench.house` writes
docs/contributing/architecture.svg."""

import ast
import sys
from pathlib import Path

from bench import svg
from decision.artefact.output import write_atomically

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "contributing" / "architecture.svg"
HOLDS = {
    "rlcc": ("the command line: recipes, stages, the gate, reports", "imports all"),
    "distill": ("rollouts to trees", "to exact integers"),
    "teachers": ("trained networks:", "read, checked, trained"),
    "netsim": ("the network that", "asks and judges"),
    "codegen": ("models to a program,", "a program to C"),
    "verify": ("proofs about the", "machine code"),
    "emulator": ("the C on Verilated", "cores, cycle by cycle"),
    "decision": (
        "what a decision is: signals, knobs, features, forests, the integer program",
        "imports none",
    ),
}
"""What stands in a box."""
WIDTH, BOX, HIGH, GAP = 860, 190, 62, 44


def arrows(root: Path = ROOT) -> dict[str, set[str]]:
    """The packages that each package imports, wherever in its files, also for types alone."""
    return {name: set().union(*map(_imported, (root / name).rglob("*.py"))) & HOLDS.keys() - {name} for name in HOLDS}


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


def draw(imports: dict[str, set[str]]) -> str:
    """The picture: who imports all is the roof, whom all import the foundation, between them a column a family."""
    roof = next(name for name, below in imports.items() if below == imports.keys() - {name})
    base = next(name for name, below in imports.items() if not below)
    inner = {name: below - {base} for name, below in imports.items() if name not in (roof, base)}
    assert all(base in imports[name] for name in inner)
    columns = _families(inner)
    floors = max(map(len, columns))
    height = 2 * (HIGH + 24) + floors * (HIGH + GAP) + 16
    wide = WIDTH - 40
    parts = [*_box(20, 20, wide, roof), *_box(20, height - HIGH - 20, wide, base)]
    step = wide / len(columns)
    for at, column in enumerate(columns):
        x = 20 + step * at + (step - BOX) / 2
        y = {name: 20 + HIGH + GAP + (floors - len(column) + n) * (HIGH + GAP) for n, name in enumerate(column)}
        middle = x + BOX / 2
        parts.append(svg.arrow(f"M{middle:g} {20 + HIGH}V{y[column[0]] - 2:g}"))
        for name in column:
            parts += _box(x, y[name], BOX, name)
            for below in sorted(inner[name], key=column.index):
                if column.index(below) == column.index(name) + 1:
                    parts.append(svg.arrow(f"M{middle:g} {y[name] + HIGH:g}V{y[below] - 2:g}"))
                else:
                    side = x + BOX
                    ends = f"{y[name] + HIGH / 2:g}", f"{y[below] + HIGH / 2:g}"
                    parts.append(svg.arrow(f"M{side:g} {ends[0]}H{side + 20:g}V{ends[1]}H{side + 2:g}"))
        parts.append(svg.arrow(f"M{middle:g} {y[column[-1]] + HIGH:g}V{height - HIGH - 22}"))
    return svg.frame(WIDTH, height, "the packages of rlcc and what each imports", parts)


def _families(inner: dict[str, set[str]]) -> list[list[str]]:
    """Packages that import one another, those that import on top."""
    families: list[set[str]] = []
    for name, below in inner.items():
        joined = {name, *below}
        for family in [family for family in families if family & joined]:
            families.remove(family)
            joined |= family
        families.append(joined)

    def level(name: str) -> int:
        return 1 + max(map(level, inner[name]), default=0)

    return [sorted(family, key=level, reverse=True) for family in families]


def _box(x: float, y: float, width: float, name: str) -> list[str]:
    first, second = HOLDS[name]
    middle = x + width / 2
    return [
        svg.box(x, y, width, HIGH),
        f'<g font-weight="600">{svg.text(middle, y + 21, f"{name}/", "mono", "middle")}</g>',
        svg.text(middle, y + 38, first, "soft", "middle", 11.5),
        svg.text(middle, y + 53, second, "soft", "middle", 11.5),
    ]


if __name__ == "__main__":
    write_atomically(PICTURE, draw(arrows()).encode())
    print(f"house: {PICTURE}", file=sys.stderr)

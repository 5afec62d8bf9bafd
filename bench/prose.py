"""Measures prose: sentences that hide their subject, sentences that are too long, words that are not the field's.

python -m bench.prose [PATH ..]      prints a row per file, worst first, and the shares over all

Read are Markdown (generated pages left out), docstrings, comments and the help of the command line.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAST = {"Of", "What", "Who", "Whose", "Whoever", "Where", "By", "With", "So", "Such"}
"""First words that put the subject last. A question may begin with them."""
MAX_WORDS = 40
"""Words of a sentence; more is too long."""
BANNED = {
    "at the most": r"\bat the most\b",
    "so many": r"\bso many\b",
    "the same of": r"\bthe same of\b",
    "as of": r"\bas of\b",
    "is none": r"\b(?:is|are) none\b",
    "the former": r"\bthe (?:former|latter)\b",
    "anew": r"\banew\b",
    "told of": r"\btold of\b",
    "beside": r"\bbeside\b",
    "pupil": r"\bpupils?\b",
    "whoever": r"\bwhoever\b",
    "said of": r"\bsaid of\b",
}
"""Name -> pattern of words that a reader of the field has to read twice."""
PACKAGES = ("decision", "netsim", "teachers", "distill", "codegen", "emulator", "verify", "rlcc", "bench")


@dataclass(frozen=True)
class ProseCount:
    """Sentences of a text, and how many of them break each rule."""

    sentences: int = 0
    last: int = 0
    long: int = 0
    banned: int = 0

    def __add__(self, other: "ProseCount") -> "ProseCount":
        return ProseCount(*(a + b for a, b in zip(self.values(), other.values(), strict=True)))

    def values(self) -> tuple[int, int, int, int]:
        return self.sentences, self.last, self.long, self.banned


def sentences(text: str) -> list[str]:
    """Returns the sentences of a paragraph without its links' addresses and code."""
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"``?[^`]*``?", "code", text)
    parts = re.split(r"(?:(?<=[.!?:])|(?<=[.!?]\*\*))\s+(?=[A-Z*])", " ".join(text.split()))
    return [part for part in parts if len(part.split()) > 2]


def count(paragraphs: list[str]) -> ProseCount:
    """Returns the counts of all sentences of the paragraphs."""
    found = [sentence for paragraph in paragraphs for sentence in sentences(paragraph)]
    return ProseCount(
        len(found),
        sum(is_last(sentence) for sentence in found),
        sum(len(sentence.split()) > MAX_WORDS for sentence in found),
        sum(len(re.findall(pattern, s, re.IGNORECASE)) for s in found for pattern in BANNED.values()),
    )


def is_last(sentence: str) -> bool:
    """Returns whether a statement begins with a word that puts its subject last."""
    first = re.sub(r"^[\W_]*", "", sentence).split(maxsplit=1)
    return bool(first) and first[0].strip("*,:;") in LAST and not sentence.rstrip("* ").endswith("?")


def markdown(text: str) -> list[str]:
    """Returns the paragraphs, list items and table cells of a page, no code and no headings."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    paragraphs: list[str] = []
    lines: list[str] = []
    for line in [*text.split("\n"), ""]:
        row = line.lstrip().startswith("|")
        if row or not line.strip() or re.match(r"\s*(?:[-*]|\d+\.) |#|    ", line):
            paragraphs.append(" ".join(lines))
            lines = []
        if row:
            paragraphs += [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        elif not line.startswith(("#", "    ")):
            lines.append(re.sub(r"^\s*(?:[-*]|\d+\.) ", "", line))
    return [paragraph for paragraph in paragraphs if paragraph.strip()]


@cache
def parsed(text: str) -> ast.Module:
    """Returns the syntax tree of a Python file. Several rules read each file."""
    return ast.parse(text)


def definitions(text: str) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yields the module, its classes and functions. Expressions, most of a tree, hold none."""
    nodes: list[ast.AST] = [parsed(text)]
    for node in nodes:  # it grows
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        for block in ("body", "handlers", "orelse", "finalbody", "cases"):
            nodes += getattr(node, block, [])


def docstrings(text: str) -> Iterator[tuple[str, str]]:
    """Yields name and docstring of the module, its classes and functions."""
    for node in definitions(text):
        said = ast.get_docstring(node)
        if said:
            yield getattr(node, "name", "module"), said


def comments(text: str) -> list[str]:
    """Returns the blocks of comments of a Python file."""
    blocks: list[str] = []
    lines: list[str] = []
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != last + 1 and lines:
                blocks.append(" ".join(lines))
                lines = []
            lines.append(token.string.lstrip("#!: "))
            last = token.start[0]
    return [block for block in [*blocks, " ".join(lines)] if block.strip()]


VERB = re.compile(r"(?:Returns|Raises|Yields|[A-Z][a-z]+s)\b")
"""How a function's docstring begins: what it returns or does, in the third person."""


def formless(text: str) -> list[str]:
    """Returns the public functions whose docstring does not begin with a verb in the third person."""
    found = []
    for node in definitions(text):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            said = ast.get_docstring(node)
            if said and not VERB.match(said.lstrip("`*")):
                found.append(node.name)
    return found


def messages(text: str) -> list[str]:
    """Returns the messages of errors that a Python file raises, with `x` for each value in them."""
    found = []
    for node in ast.walk(parsed(text)):
        match node:
            case ast.Call(func=ast.Name("InputError" | "ValueError"), args=[message, *_]):
                parts = [part for part in ast.walk(message) if isinstance(part, ast.Constant | ast.FormattedValue)]
                found.append(" ".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in parts))
    return found


def owners() -> dict[str, list[str]]:
    """Returns class -> the modules that define it, if there are several. Leading underscores do not count."""
    found: dict[str, list[str]] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in parsed(path.read_text(encoding="utf-8")).body:
                name = node.name if isinstance(node, ast.ClassDef) else ""
                if name:
                    found.setdefault(name.strip("_"), []).append(path.relative_to(ROOT).as_posix())
    return {name: modules for name, modules in found.items() if len(modules) > 1}


def paragraphs_of(path: Path) -> list[str]:
    """Returns the prose of a file: of Markdown its paragraphs, of Python its docstrings and comments."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return markdown(text)
    return [part for _, said in docstrings(text) for part in markdown(said)] + comments(text)


def files() -> dict[str, list[Path]]:
    """Returns group -> files: pages that people write, and the Python of each package."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    written = [page for page in pages if not re.match(r"# .*\n+Made (?:by|from)", page.read_text())]
    groups = {"docs": written}
    for package in PACKAGES:
        groups[package] = sorted((ROOT / package).rglob("*.py"))
    return groups


def measured() -> dict[str, ProseCount]:
    """Returns group -> counts over its files."""
    return {
        group: sum((count(paragraphs_of(path)) for path in paths), ProseCount()) for group, paths in files().items()
    }


def row(name: str, found: ProseCount) -> str:
    """Returns a line: name, sentences, share in % of those with a late subject and of long ones, banned words."""
    of = max(found.sentences, 1)
    shares = f"{100 * found.last / of:5.1f} %  {100 * found.long / of:5.1f} %"
    return f"{name:48} {found.sentences:6}  {shares}  {found.banned:5}"


def main(paths: list[Path]) -> None:
    print(f"{'':48} {'sent.':>6}  {'late':>7}  {'long':>7}  banned")
    for path in paths:
        print(row(str(path), count(paragraphs_of(path))))
    if not paths:
        found = measured()
        docs = files()["docs"]
        each = {path: count(paragraphs_of(path)) for path in docs}
        for path in sorted(docs, key=lambda path: -each[path].last - each[path].long):
            print(row(str(path.relative_to(ROOT)), each[path]))
        for group, counts in found.items():
            print(row(group, counts))


if __name__ == "__main__":
    main([Path(path) for path in sys.argv[1:]])

"""The sentences that a test file freezes: texts of four words or more that it compares with what rlcc writes.

A comparison is ``==``, ``!=``, ``in``, ``not in``, ``match=``, a method of strings as ``startswith``, or a function of
``re``. Names are followed to the table that holds their text: a constant of the module, a parametrisation, a loop.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MIN_WORDS = 4
WORD = re.compile(r"[A-Za-z]?[a-z]+(?:[-'][a-z]+)*")
QUOTED = re.compile(r"""(?<![A-Za-z])(['"`])[^'"`]*\1""")
CODE = re.compile(r"[{}]|;\n|\);| == | = |->|/\*|\w \*\w|^\s*(?:def|import) ", re.MULTILINE)
REGEX = re.compile(r"\\[bsdwSDWn]|\.[*+]\??|\(\?[:=!]")
METHODS = {"startswith", "endswith", "removeprefix", "removesuffix", "count", "index", "find"}
SEARCHES = {"search", "match", "fullmatch", "findall", "finditer"}
TEXT_CALLS = {"escape", "format", "join", "strip", "replace", "param"}
"""Functions whose result holds the text of their arguments."""


@dataclass(frozen=True)
class Sentence:
    line: int
    text: str


@dataclass
class Scope:
    """``tables``: name -> the expressions of its value; ``labels``: names that hold a test's own labels."""

    tables: dict[str, list[ast.expr]] = field(default_factory=dict)
    labels: set[str] = field(default_factory=set)


def word_count(text: str) -> int:
    """Returns the words of prose in the longest alternative of ``text``; code has none.

    Names in quotation marks, with a digit, an underscore, a dot or two capitals are no words.
    """
    if CODE.search(text):
        return 0
    plain = REGEX.sub(" ", QUOTED.sub(" ", text)).replace("\\", "")
    return max(
        sum(WORD.fullmatch(word.strip(".,;:!?()[]^$+*")) is not None for word in part.split())
        for part in plain.split("|")
    )


def frozen_sentences(path: Path) -> list[Sentence]:
    """Returns the sentences that the file at ``path`` compares, in its order."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    module = Scope(_assigned(tree.body))
    found: set[tuple[int, int, str]] = set()
    for node in _statements(tree):
        scope = Scope(dict(module.tables))
        if isinstance(node, ast.FunctionDef):
            scope = Scope(module.tables | _assigned(node.body))
            for names, rows in _bindings(node):
                _bind(names, rows, scope)
        for expression in _compared(node, scope):
            found |= {(at.lineno, at.col_offset, text) for at, text in _texts(expression, scope) if _long(text)}
    return [Sentence(line, text) for line, _, text in sorted(found)]


def _statements(tree: ast.Module | ast.ClassDef) -> Iterator[ast.stmt]:
    for node in tree.body:
        yield from _statements(node) if isinstance(node, ast.ClassDef) else [node]


def _long(text: str) -> bool:
    return word_count(text) >= MIN_WORDS


def _compared(tree: ast.AST, scope: Scope) -> Iterator[ast.expr]:
    """Returns the expressions that stand in a comparison with something else than the test's own labels."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            contained = [isinstance(operator, ast.In | ast.NotIn) for operator in node.ops]
            if not all(isinstance(operator, ast.In | ast.NotIn | ast.Eq | ast.NotEq) for operator in node.ops):
                continue
            if all(_own(side, scope) for side in sides):
                continue
            yield node.left
            for side, container in zip(node.comparators, contained, strict=True):
                if not (container and isinstance(side, ast.Name)):
                    yield side
        elif isinstance(node, ast.Call):
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "match")
            if isinstance(node.func, ast.Attribute):
                of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
                if node.func.attr in (SEARCHES if of_re else METHODS):
                    yield from node.args[:1]


def _own(side: ast.expr, scope: Scope) -> bool:
    """Returns whether ``side`` is a label of the test's or a constant that is compared with one."""
    if isinstance(side, ast.Name):
        return side.id in scope.labels or (side.id.isupper() and side.id in scope.tables)
    return isinstance(side, ast.Constant) or (
        isinstance(side, ast.Tuple | ast.List | ast.Set) and all(_own(element, scope) for element in side.elts)
    )


def _texts(node: ast.expr, scope: Scope) -> Iterator[tuple[ast.expr, str]]:
    """Returns the outermost texts of an expression, a gap for each value that is filled in."""
    text = _text(node)
    if text is not None:
        yield node, text
    inner: list[ast.expr] = []
    if isinstance(node, ast.Name):
        inner = scope.tables.get(node.id, [])
        scope = _without(scope, node.id)
    elif isinstance(node, ast.JoinedStr):
        inner = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        inner = node.elts
    elif isinstance(node, ast.Dict):
        inner = [value for value in [*node.keys, *node.values] if value is not None]
    elif isinstance(node, ast.IfExp):
        inner = [node.body, node.orelse]
    elif isinstance(node, ast.BinOp) and text is None:
        inner = [node.left, node.right]
    elif isinstance(node, ast.Subscript):
        inner = [value for table in _tables(node.value, scope) for value in table.values]
    elif isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp):
        inner = [node.elt]
    elif isinstance(node, ast.Starred):
        inner = [node.value]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TEXT_CALLS:
        inner = [node.func.value, *node.args]
    for part in inner:
        yield from _texts(part, scope)


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "\0" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [_text(node.left), _text(node.right)]
        return None if parts == [None, None] else "".join("\0" if part is None else part for part in parts)
    return None


def _without(scope: Scope, name: str) -> Scope:
    """Returns the scope without a name that is being followed: no name is followed in a circle."""
    return Scope({other: value for other, value in scope.tables.items() if other != name})


def _assigned(body: list[ast.stmt]) -> dict[str, list[ast.expr]]:
    tables: dict[str, list[ast.expr]] = {}
    for node in body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            tables[node.targets[0].id] = [node.value]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            tables[node.target.id] = [node.value]
    return tables


def _bindings(function: ast.FunctionDef) -> Iterator[tuple[list[str], ast.expr]]:
    """Returns the names that a parametrisation or a loop binds, with the table that it goes through."""
    for node in function.decorator_list:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "parametrize":
            names = node.args[0]
            if isinstance(names, ast.Constant):
                yield [name.strip() for name in str(names.value).split(",")], node.args[1]
            elif isinstance(names, ast.Tuple | ast.List):
                yield [str(name.value) for name in names.elts if isinstance(name, ast.Constant)], node.args[1]
    for loop in ast.walk(function):
        if isinstance(loop, ast.For | ast.comprehension):
            targets = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
            yield [target.id if isinstance(target, ast.Name) else "" for target in targets], loop.iter


def _bind(names: list[str], rows: ast.expr, scope: Scope) -> None:
    """Gives each name the cells of its column, where the table is written out."""
    for row in _rows(rows, scope):
        cells = row.elts if len(names) > 1 and isinstance(row, ast.Tuple | ast.List) else [row]
        if isinstance(row, ast.Call) and isinstance(row.func, ast.Attribute) and row.func.attr == "param":
            cells = row.args
        if len(cells) == len(names):
            for name, cell in zip(names, cells, strict=True):
                scope.labels.add(name)
                scope.tables.setdefault(name, [])
                scope.tables[name] = [*scope.tables[name], cell]


def _rows(node: ast.expr, scope: Scope) -> Iterator[ast.expr]:
    if isinstance(node, ast.Name):
        for value in scope.tables.get(node.id, []):
            yield from _rows(value, _without(scope, node.id))
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        yield from node.elts
    elif isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key is not None)
    elif isinstance(node, ast.BinOp):
        yield from (*_rows(node.left, scope), *_rows(node.right, scope))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        yield from _rows(node.args[0], scope)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        for table in _tables(node.func.value, scope):
            pairs = [(key, value) for key, value in zip(table.keys, table.values, strict=True) if key is not None]
            if node.func.attr == "items":
                yield from (ast.Tuple(elts=[key, value]) for key, value in pairs)
            elif node.func.attr in {"keys", "values"}:
                yield from (pair[node.func.attr == "values"] for pair in pairs)


def _tables(node: ast.expr, scope: Scope) -> Iterator[ast.Dict]:
    for value in scope.tables.get(node.id, []) if isinstance(node, ast.Name) else [node]:
        if isinstance(value, ast.Dict):
            yield value

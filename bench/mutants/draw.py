"""The mutants of a Python source: what is changed, and where.

Comparisons (one step and negated), + - * // << >> & | ^, and/or/not, integers by one, True/False, conditions fixed,
statements and returned values left out, bounds of slices, min/max and any/all, entries of tuples, sets and dicts,
alternatives of patterns, an SMT operator by its sibling (signed for unsigned), except clauses that re-raise.

Left as they are, because they are no claim: annotations, docstrings, texts of errors and names of checks, decorators,
``assert``, ``strict=`` of zip.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
WORDS = {
    "bvadd": "bvsub", "bvsub": "bvadd", "bvult": "bvslt", "bvslt": "bvult", "bvlshr": "bvashr", "bvashr": "bvlshr",
    "bvshl": "bvlshr", "bvand": "bvor", "bvor": "bvxor", "bvxor": "bvor", "zero": "sign", "sign": "zero",
    "little": "big",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change. ``function``: the outermost function it is in, as Class.name; "" in a module's own statements, whose
    names are ``binds``. ``statement``: first line of its statement; ``first``..``last``: its own lines."""

    file: str
    function: str
    binds: frozenset[str]
    statement: int
    first: int
    last: int
    line: str
    was: str
    becomes: str
    start: int
    end: int

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Returns the identity of the mutant, wherever its line has moved to: file, line, old and new text."""
        return self.file, self.line, self.was, self.becomes

    def applied(self, source: bytes) -> bytes:
        """The source with the change."""
        return source[: self.start] + self.becomes.encode() + source[self.end :]


def draw(file: str, source: bytes) -> list[Mutant]:
    """All mutants of a source that are Python and are not the source itself."""
    drawer = _Drawer(file, source)
    drawer.visit(ast.parse(source))
    unique = {(m.start, m.end, m.becomes): m for m in drawer.found if m.was != m.becomes}
    return [m for m in unique.values() if _compiles(m.applied(source))]


def _compiles(source: bytes) -> bool:
    try:
        compile(source, "mutant", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


class _Drawer(ast.NodeVisitor):
    """Walks the tree and keeps where it is."""

    def __init__(self, file: str, source: bytes) -> None:
        self.file, self.source, self.found = file, source, list[Mutant]()
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.text = source.decode().splitlines()
        self.classes: list[str] = []
        self.function = ""
        self.parents: list[ast.AST] = []

    # --- where ---

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.JoinedStr | ast.Assert) or self._said(node):
            return
        self.parents.append(node)
        for old, new in self._changes(node):
            self._add(old, new)
        if isinstance(node, ast.FunctionDef):
            self._function(node)
        elif isinstance(node, ast.ClassDef):
            self.classes.append(node.name)
            self._all(node.body)
            self.classes.pop()
        elif isinstance(node, ast.AnnAssign):
            self._all([node.value] if node.value else [])
        else:
            self.generic_visit(node)
        self.parents.pop()

    def _function(self, node: ast.FunctionDef) -> None:
        self._all([d for d in (*node.args.defaults, *node.args.kw_defaults) if d])
        outer = self.function
        self.function = outer or ".".join([*self.classes, node.name])
        self._all(node.body)
        self.function = outer

    def _all(self, nodes: list[ast.stmt] | list[ast.expr]) -> None:
        for node in nodes:
            self.visit(node)

    @staticmethod
    def _said(node: ast.AST) -> bool:
        """Whether a node is only for its reader, or only says again what a type says."""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return True
        return isinstance(node, ast.keyword) and node.arg == "strict"

    def _add(self, old: ast.AST | tuple[int, int, int, int], new: str) -> None:
        if isinstance(old, ast.AST):
            old = (old.lineno, old.col_offset, old.end_lineno, old.end_col_offset)  # type: ignore[attr-defined]
        first, column, last, end_column = old
        start, end = self.starts[first - 1] + column, self.starts[last - 1] + end_column
        holders = [p for p in self.parents if isinstance(p, ast.stmt | ast.ExceptHandler)]
        holder = holders[-1] if holders else None
        module = [p for p in self.parents if isinstance(p, ast.Assign | ast.AnnAssign)] if not self.function else []
        binds = {n.id for p in module for n in ast.walk(p) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        was = self.source[start:end].decode()
        self.found.append(
            Mutant(
                self.file,
                self.function,
                frozenset(binds),
                holder.lineno if holder else first,
                first,
                last,
                self.text[first - 1].strip(),
                " ".join(was.split()),
                new,
                start,
                end,
            )
        )

    # --- what ---

    def _changes(self, node: ast.AST) -> Iterator[tuple[ast.AST | tuple[int, int, int, int], str]]:
        if isinstance(node, ast.stmt):
            yield from self._statements(node)
        elif isinstance(node, ast.expr):
            for new in self._expressions(node):
                yield node, new if isinstance(node, ast.Slice) or new.isidentifier() else f"({new})"
        elif isinstance(node, ast.comprehension):
            for condition in node.ifs:
                yield condition, "True"
        elif isinstance(node, ast.MatchOr):
            for k in range(len(node.patterns)):
                yield node, " | ".join(ast.unparse(p) for n, p in enumerate(node.patterns) if n != k)
        elif isinstance(node, ast.match_case) and node.guard is not None:
            yield node.guard, "True"
            yield node.guard, "False"
        elif isinstance(node, ast.ExceptHandler) and not isinstance(node.body[-1], ast.Raise):
            yield _span(node.body), "raise"

    def _statements(self, node: ast.stmt) -> Iterator[tuple[ast.AST, str]]:
        if isinstance(node, ast.Expr | ast.Raise | ast.AugAssign | ast.Continue | ast.Break):
            yield node, "pass"
        if isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
            yield node, "return None"
        if isinstance(node, ast.If):
            yield node.test, "True"
            yield node.test, "False"
        if isinstance(node, ast.While):
            yield node.test, "False"

    def _expressions(self, node: ast.expr) -> Iterator[str]:
        match node:
            case ast.Compare():
                for k, op in enumerate(node.ops):
                    for other in COMPARISONS[type(op)]:
                        ops = [*node.ops[:k], other(), *node.ops[k + 1 :]]
                        yield ast.unparse(ast.Compare(node.left, ops, node.comparators))
                if len(node.ops) > 1:
                    yield ast.unparse(ast.Compare(node.left, node.ops[:1], node.comparators[:1]))
                    yield ast.unparse(ast.Compare(node.comparators[0], node.ops[1:], node.comparators[1:]))
            case ast.BinOp() if type(node.op) in ARITHMETIC and not self._is_text(node):
                yield ast.unparse(ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right))
            case ast.BoolOp():
                turned: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
                yield ast.unparse(ast.BoolOp(turned, node.values))
                for k in range(len(node.values)):
                    rest = [v for n, v in enumerate(node.values) if n != k]
                    yield ast.unparse(ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0])
            case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
                yield ast.unparse(operand)
            case ast.IfExp():
                yield ast.unparse(node.body)
                yield ast.unparse(node.orelse)
            case ast.Constant(bool()):
                yield str(not node.value)
            case ast.Constant(int() | float()):
                yield repr(node.value + 1)  # type: ignore[operator]
                if node.value or not isinstance(self.parents[-2], ast.Subscript):  # the first is often the last
                    yield repr(node.value - 1)  # type: ignore[operator]
            case ast.Constant(str(word)):
                if word in WORDS:
                    yield repr(WORDS[word])
                if self._is_pattern():
                    yield from map(repr, _fewer_alternatives(word))
            case ast.Call(ast.Name(name)) if name in CALLS:
                yield ast.unparse(ast.Call(ast.Name(CALLS[name]), node.args, node.keywords))
            case ast.Slice():
                if node.lower:
                    yield ast.unparse(ast.Slice(None, node.upper, node.step))
                if node.upper:
                    yield ast.unparse(ast.Slice(node.lower, None, node.step))
            case ast.Dict():
                for k in range(len(node.keys)):
                    keys, values = ([x for n, x in enumerate(xs) if n != k] for xs in (node.keys, node.values))
                    yield ast.unparse(ast.Dict(keys, values))  # type: ignore[arg-type]
            case ast.Tuple() | ast.List() | ast.Set() if len(node.elts) > 1 and self._is_choice(node):
                for k in range(len(node.elts)):
                    yield ast.unparse(type(node)([x for n, x in enumerate(node.elts) if n != k]))

    def _is_text(self, node: ast.BinOp) -> bool:
        """Whether a sum joins texts: of these only the reader knows what is right."""
        return any(isinstance(x, ast.JoinedStr | ast.Constant) and not _is_number(x) for x in ast.walk(node))

    def _is_pattern(self) -> bool:
        parent = self.parents[-2]
        return isinstance(parent, ast.Call) and ast.unparse(parent.func).startswith("re.")

    def _is_choice(self, node: ast.expr) -> bool:
        """Whether a literal says what all there is, rather than packs values that are unpacked elsewhere."""
        parent = self.parents[-2]
        if isinstance(node, ast.Set) or isinstance(parent, ast.Compare | ast.Starred):
            return True
        if isinstance(parent, ast.For | ast.comprehension):
            return parent.iter is node
        return not self.function and isinstance(parent, ast.Assign | ast.AnnAssign)


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _span(body: list[ast.stmt]) -> tuple[int, int, int, int]:
    first, last = body[0], body[-1]
    return first.lineno, first.col_offset, last.end_lineno or 0, last.end_col_offset or 0


def _fewer_alternatives(pattern: str) -> Iterator[str]:
    """A regular expression without one of the alternatives between ( | )."""
    groups: list[list[int]] = [[0]]  # where each alternative of an open group begins
    ends: list[tuple[int, int, int]] = []
    at = 0

    def close(starts: list[int], end: int) -> None:
        bounds = [*starts, end + 1]
        if len(starts) > 1:
            ends.extend((bounds[k], bounds[k + 1], k == len(starts) - 1) for k in range(len(starts)))

    while at < len(pattern):
        c = pattern[at]
        if c == "\\":
            at += 1
        elif c == "[":
            at = pattern.index("]", at + 2)
        elif c == "(":
            groups.append([at + 1])
        elif c == "|":
            groups[-1].append(at + 1)
        elif c == ")":
            close(groups.pop(), at)
        at += 1
    close(groups.pop(), len(pattern))
    for start, end, last in ends:
        shorter = pattern[: start - 1] + pattern[end - 1 :] if last else pattern[:start] + pattern[end:]
        try:
            re.compile(shorter)
        except re.error:
            continue
        yield shorter

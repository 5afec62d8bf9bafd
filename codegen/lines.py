"""C text in lines of at most ``WIDTH`` columns. Only blanks, line ends and places of comments change: no token does.

A comment behind a long line goes above it. A long expression is broken at its outermost operators, first at a choice,
then at or, and, commas, sums; what is still too long is broken within.
"""

import re
import textwrap
from collections.abc import Iterator

WIDTH = 110
STEP = "    "
BEHIND = re.compile(r"(?P<indent>\s*)(?P<code>(?:(?!/\*).)*?)\s*/\* (?P<note>(?:(?!\*/).)*) \*/")
HANGING = re.compile(r" \* +(?:\w+ {2,})?")
OPERATORS = (
    (" ? ", " : "),
    (" || ",),
    (" && ",),
    (" & ", " | "),
    (", ",),
    (" + ", " - "),
    (" = ",),
    (" * ", " >> ", " << "),
    (" == ",),
)
"""By what is broken first. At a comma the line ends behind it, else the next line begins with the operator."""
FILLED = (", ", " + ", " - ")
"""Operators between which as many operands stand on a line as fit."""


def wrapped(text: str) -> str:
    """Returns the text with every line of at most ``WIDTH`` columns, as far as it has a place to be broken at."""
    lines: list[str] = []
    comment = continued = False
    for line in text.split("\n"):
        splice = line.endswith("\\")
        if len(line) <= WIDTH:
            lines.append(line)
        elif comment:
            lines += _prose(line)
        else:
            above, code = _statement(line.removesuffix("\\").rstrip())
            goes_on = continued or splice or line.lstrip().startswith("#")
            code = [f"{one} \\" for one in code[:-1]] + [code[-1] + " \\" * splice] if goes_on and code else code
            lines += [*(f"{one} \\" for one in above), *code] if continued else [*above, *code]
        continued = splice
        opened, closed = line.rfind("/*"), line.rfind("*/")
        comment = opened > closed or (comment and closed < 0)
    return "\n".join(lines)


def _prose(line: str) -> list[str]:
    """A line of a comment of several lines: what follows hangs below its text."""
    begin = HANGING.match(line)
    if begin is None:
        return [line]
    hanging = " *" + " " * (begin.end() - 2)
    return _words(line[begin.end() :], line[: begin.end()], hanging)


def _words(text: str, first: str, rest: str) -> list[str]:
    lines = textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace("\0", " ") for line in lines]


def _statement(line: str) -> tuple[list[str], list[str]]:
    """The comment above, and the code."""
    found = BEHIND.fullmatch(line)
    if found is None:
        indent = line[: len(line) - len(line.lstrip())]
        return [], _broken(line.lstrip(), indent)
    indent, code = found["indent"], found["code"]
    above = _words(f"{found['note']}\0*/", f"{indent}/* ", f"{indent} * ")
    return above, _broken(code, indent) if code else []


def _broken(code: str, indent: str) -> list[str]:
    if len(indent) + len(code) <= WIDTH:
        return [indent + code]
    pieces = _pieces(code)
    if len(pieces) < 2:
        return [indent + code]
    first, *others = pieces
    return [*_broken(first, indent), *(line for piece in others for line in _broken(piece, indent + STEP))]


def _pieces(code: str) -> list[str]:
    """The parts between the outermost operators of the lowest rank."""
    found = list(_operators(code))
    if not found:
        head, bracket, rest = code.partition("(")
        return [head + bracket, rest] if bracket and rest and head else [code]
    least = min(depth for depth, _, _ in found)
    here = [(place, operator) for depth, place, operator in found if depth == least]
    rank = next(rank for rank in OPERATORS if any(operator in rank for _, operator in here))
    cuts = [place + (len(operator) - 1 if operator == ", " else 0) for place, operator in here if operator in rank]
    ends = [*cuts, len(code)]
    parts = [code[begin:end].strip() for begin, end in zip([0, *cuts], ends, strict=True)]
    return _filled(parts) if rank[0] in FILLED else parts


def _filled(parts: list[str]) -> list[str]:
    """As many neighbours on a line as fit with room for the indent of the statement."""
    room = WIDTH - 4 * len(STEP)
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + 1 + len(part) <= room:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    return lines


def _operators(code: str) -> Iterator[tuple[int, int, str]]:
    """Depth of brackets, place and spelling of each operator that a line may be broken at."""
    depth = 0
    spelled = [operator for rank in OPERATORS for operator in rank]
    for place, letter in enumerate(code):
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        for operator in spelled:
            if place and code.startswith(operator, place):
                yield depth, place, operator

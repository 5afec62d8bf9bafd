"""The certificate's notation of values: 7, (+ (* 4 node.12) 7), event.response_ns, register.8, pointer.event, sum.3,
(if (sltu 611 node.25) 48 0)."""

import re

from verify.check.meaning import Meaning, signs
from verify.check.refused import Refused
from verify.check.terms import Term, const, extract, ite, make, unshifted, var

TOKEN = re.compile(r"\(|\)|[^\s()]+")
NUMBER = re.compile(r"-?[0-9]{1,20}")
NAME = re.compile(r"(node|tree|sum)\.([0-9]{1,9})")
INPUT = re.compile(r"(event|params|context|register|pointer)\.\w+")
OPERATIONS = {"and": "bvand", "or": "bvor", "xor": "bvxor", "srl": "bvlshr", "sra": "bvashr", "sll": "bvshl"}
MAX_CHARACTERS = 20_000
"""Of one expression; rlcc's have less than a hundred."""
QUESTIONS = {"sltu": "bvult", "slt": "bvslt", "eq": "="}


def names_in(text: str) -> set[str]:
    """The values of the program that an expression names."""
    return {match[0] for match in NAME.finditer(text)}


def evaluate(text: str, meaning: Meaning) -> Term:
    """The word that an expression stands for. Refused where it is none, or longer than any that rlcc writes."""
    if len(text) > MAX_CHARACTERS:
        raise Refused(f"the certificate has an expression of {len(text)} characters, more than {MAX_CHARACTERS}")
    open_: list[tuple[str, list[Term]]] = [("", [])]  # expressions that are not closed: operation, operands so far
    tokens = iter(TOKEN.findall(text))
    for token in tokens:
        if token == "(":
            open_.append((next(tokens, ""), []))
            continue
        if token == ")":
            op, operands = open_.pop()
            if len(operands) < 2 or (op not in ("+", "product", "if") and len(operands) != 2):
                raise _unreadable(text)
            word = _apply(op, operands, meaning, text)
        else:
            word = _atom(token, meaning, text)
        open_[-1][1].append(word)
    if len(open_) != 1 or len(open_[0][1]) != 1:
        raise _unreadable(text)
    return open_[0][1][0]


def _apply(op: str, operands: list[Term], meaning: Meaning, text: str) -> Term:
    a, b = operands[0], operands[1]
    if op == "+":
        for other in operands[1:]:
            a = make("bvadd", a, other)
        return a
    if op in OPERATIONS:
        return make(OPERATIONS[op], a, b)
    if op in QUESTIONS:
        return ite(make(QUESTIONS[op], a, b), const(1), const(0))
    if op == "if" and len(operands) == 3:
        return ite(meaning.choose(make("=", a, const(1))), b, operands[2])
    factor, shift = unshifted(a)
    if op == "*" and factor is const(1):
        return make("bvshl", b, const(shift))
    if op == "*" and a is const(-1):  # what is taken away
        return make("bvsub", const(0), b)
    product = meaning.multiply(a, b)
    if op == "product" and len(operands) == 3 and operands[2].op == "const":  # a word of the product, from a bit on
        return extract(make("bvlshr", product, const(operands[2].value, 64)), 31, 0)
    high = extract(product, 63, 32)
    match op:
        case "*" | "mul":
            return extract(product, 31, 0)
        case "mulhu":
            return high
        case "mulh":
            return make("bvsub", high, signs(a, b))
        case "mulhsu":
            return make("bvsub", high, ite(make("bvslt", a, const(0)), b, const(0)))
    raise _unreadable(text)


def _atom(name: str, meaning: Meaning, text: str) -> Term:
    if NUMBER.fullmatch(name):
        return const(int(name))
    if INPUT.fullmatch(name):
        return var(name)
    part = NAME.fullmatch(name)
    if part is None:
        raise _unreadable(text)
    kind, number = part[1], int(part[2])
    program = meaning.program
    most = len(program.nodes) if kind == "node" else len(program.forest.trees) * program.forest.outputs
    if number >= most:
        raise _unreadable(text)
    value = {"node": meaning.value, "tree": meaning.tree, "sum": meaning.sum}[kind](number)
    return extract(value, 31, 0)


def _unreadable(text: str) -> Refused:
    return Refused(f"the certificate has an expression that cannot be read: {text[:80]!r}; prove the firmware again")

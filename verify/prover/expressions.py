"""Words of the machine as expressions: equal words written equally, so that most equalities need no solver.

An expression is a number. 0..2^32-1 is that constant; from ``FIRST`` on it is the number of an entry in a ``Pool``;
``UNKNOWN`` is no value at all. Every entry is a 32-bit word, made of atoms (inputs, registers at the call, nodes of the
decision program) by the machine's operations. Constants are folded, and sums are kept as

    linear   constant + sum of coefficient * word   (mod 2^32; shifts left and products with constants are such sums)

so that two words that differ only in the order of their additions are the same number. Each rewriting below is an
identity of 32-bit words, or of words within the ranges of their parts: ``low <= v <= high`` for the integer v that the
word is congruent to mod 2^32. Ranges of atoms come from their storage or from the decision program.
"""

from collections.abc import Iterable, Mapping

WORD = 0xFFFF_FFFF
MODULUS = 1 << 32
FIRST = 1 << 32
UNKNOWN = -1
FULL = (0, WORD)

Linear = tuple[int, tuple[tuple[int, int], ...]]
"""Constant and (word, coefficient) pairs in the order of the words; coefficients 1..2^32-1."""

COMMUTATIVE = ("and", "or", "xor", "mul", "mulh")


def signed(value: int) -> int:
    """A 32-bit word as a two's complement integer."""
    return value - MODULUS if value >> 31 else value


def fold(op: str, a: int, b: int) -> int:
    """The machine's operation on two words."""
    match op:
        case "add":
            return (a + b) & WORD
        case "sub":
            return (a - b) & WORD
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case "sll":
            return (a << (b & 31)) & WORD
        case "srl":
            return a >> (b & 31)
        case "sra":
            return (signed(a) >> (b & 31)) & WORD
        case "sltu":
            return int(a < b)
        case "slt":
            return int(signed(a) < signed(b))
        case "eq":
            return int(a == b)
        case "mul":
            return a * b & WORD
        case "mulhu":
            return a * b >> 32
        case "mulh":
            return (signed(a) * signed(b) >> 32) & WORD
        case "mulhsu":
            return (signed(a) * b >> 32) & WORD
    raise AssertionError(f"no operation {op}")


class Pool:
    """All expressions of a proof. Entries are never changed; equal ones are one."""

    def __init__(self) -> None:
        self.ops: list[str] = []
        self.args: list[tuple[int, ...]] = []
        self.linears: list[Linear] = []
        self.names: list[str] = []
        self.ranges: list[tuple[int, int]] = []
        self.steps: dict[int, int] = {}
        self._known: dict[object, int] = {}
        self._back: dict[int, tuple[int, int]] = {}
        """Words that are another shifted to the right, of which only bits of 0 are lost: that word, and how far."""

    def atom(self, name: str, low: int = 0, high: int = WORD, step: int = 1) -> int:
        """An input or a cut, known by its name. The integer ``low..high`` it stands for has a span below 2^32 and is a
        multiple of ``step``, a power of two."""
        e = self._entry("atom", (), (0, ()), name, (low, high), key=("atom", name))
        self.steps[e] = step
        return e

    def range(self, e: int) -> tuple[int, int]:
        """Bounds of the integer that the word is congruent to."""
        return (e, e) if e < FIRST else self.ranges[e - FIRST]

    def op(self, e: int) -> str:
        return "const" if e < FIRST else self.ops[e - FIRST]

    def operands(self, e: int) -> tuple[int, ...]:
        return () if e < FIRST else self.args[e - FIRST]

    def linear(self, e: int) -> Linear:
        """Any word as a sum."""
        if e < FIRST:
            return e, ()
        return self.linears[e - FIRST] if self.ops[e - FIRST] == "linear" else (0, ((e, 1),))

    def name(self, e: int) -> str:
        return self.names[e - FIRST]

    def make(self, op: str, a: int, b: int) -> int:
        """``op`` of two words, in its canonical form; no value where an operand has none."""
        if a == UNKNOWN or b == UNKNOWN:
            return UNKNOWN
        if a < FIRST and b < FIRST:
            return fold(op, a, b)
        key = (op, a, b)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._make(op, a, b)
        return known

    def product(self, a: int, b: int, shift: int) -> int:
        """The low word of (a * b) >> shift, unsigned, 64 bits wide. Powers of two go from factors to the shift."""
        if UNKNOWN in (a, b):
            return UNKNOWN
        if a < FIRST and b < FIRST:
            return (a * b >> shift) & WORD
        (x, i), (y, j) = self.stripped(a), self.stripped(b)
        if i + j <= shift:
            a, b, shift = x, y, shift - i - j
        if 0 in (a, b):
            return 0
        if shift > 32:
            return self.make("srl", self.product(a, b, 32), shift - 32)
        (la, ha), (lb, hb) = self.range(a), self.range(b)
        if shift == 0 or (min(la, lb) >= 0 and ha * hb <= WORD):
            return self.make("srl", self.make("mul", a, b), shift) if shift < 32 else 0
        args = (min(a, b), max(a, b), shift)
        return self._entry("product", args, (0, ()), "", None, key=("product", *args))

    def one_product(self, a: int, b: int) -> bool:
        """Whether two words are surely one product, in whichever way each is written."""
        known = self.multiplied(a)
        return known is not None and known == self.multiplied(b)

    def multiplied(self, e: int) -> tuple[int, int, int] | None:
        """Factors a and b, and a shift, of which a word is (a * b) >> shift; one way for each such word: a factor below
        2^32 after k shifts to the left is taken as that. None for other words."""
        shift = 0
        if self.op(e) == "srl" and self.operands(e)[1] < FIRST:
            e, shift = self.operands(e)
        if self.op(e) != "product":
            return None
        a, b, taken = self.operands(e)
        if shift and taken != 32:
            return None  # what is above the low word is lost before the shift
        shift += taken
        whole = []
        for factor in (a, b):
            word, k = self._shifted_out(factor)
            whole.append(word)
            shift += k
        return min(whole), max(whole), shift

    def _shifted_out(self, e: int) -> tuple[int, int]:
        """e * 2^k as a word, and k: x >> k of an x whose last k bits are 0 is x, the low bits of x are x << k. Low bits
        that are set are dropped and added."""
        if self.op(e) == "srl" and self.operands(e)[1] < FIRST:
            word, k = self.operands(e)
            if self.multiple(word, 1 << k):
                return word, k
        if self.op(e) in ("and", "or"):
            mask, word = sorted(self.operands(e))
            if mask < FIRST and mask & (mask + 1) == 0:
                if self.op(e) == "or":
                    return self.sum(mask, ((self._bits("and", word, WORD - mask), 1),)), 0
                k = 32 - mask.bit_length()
                return self.make("sll", word, k), k
        return e, 0

    def stripped(self, e: int) -> tuple[int, int]:
        """A word without the power of two that it is surely a multiple of, and its exponent."""
        if e < FIRST:
            k = (e & -e).bit_length() - 1 if e else 0
            return e >> k, k
        for inner, k in self.halved(e):
            low, high = self.range(inner)
            if low >= 0 and high << k <= WORD:
                return inner, k
        return e, 0

    def halved(self, e: int) -> list[tuple[int, int]]:
        """Words that times a power of two (its exponent) are this word, mod 2^32."""
        constant, terms = self.linear(e)
        factors = [signed(factor) for _, factor in terms]
        k = min((n & -n).bit_length() - 1 for n in (constant, *factors) if n)
        constants = sorted({constant, signed(constant)}, reverse=True) if k else []
        parts = [(word, n >> k) for (word, _), n in zip(terms, factors, strict=True)]
        return [(self.sum(first >> k, parts), k) for first in constants]

    def add(self, a: int, b: int) -> int:
        return self.make("add", a, b)

    def sum(self, constant: int, terms: Iterable[tuple[int, int]]) -> int:
        """constant + sum of coefficient * word, mod 2^32."""
        total: dict[int, int] = {}
        for word, coefficient in terms:
            inner, parts = self.linear(word)
            constant += inner * coefficient
            for part, factor in parts:
                total[part] = (total.get(part, 0) + factor * coefficient) & WORD
        for part in self._back.keys() & total:
            word, k = self._back[part]
            if total[part] and total[part] % (1 << k) == 0:  # back to the left: the high bits that differ are lost
                return self.sum(constant, [(word, total.pop(part) >> k), *total.items()])
        kept = tuple(sorted((word, c) for word, c in total.items() if c))
        constant &= WORD
        if not kept:
            return constant
        if not constant and kept[0][1] == 1 and len(kept) == 1:
            return kept[0][0]
        return self._entry("linear", (), (constant, kept), "", None, key=(constant, kept))

    def atoms(self, e: int) -> set[int]:
        """The atoms an expression is made of."""
        reached: set[int] = set()
        seen: set[int] = set()
        todo = [e]
        while todo:
            at = todo.pop()
            if at < FIRST or at in seen:
                continue
            seen.add(at)
            if self.op(at) == "atom":
                reached.add(at)
            todo += [word for word, _ in self.linear(at)[1]] if self.op(at) == "linear" else self.operands(at)
        return reached

    def text(self, e: int, names: Mapping[int, int] | None = None) -> str:
        """An expression for a reader (and for the certificate), words in it by the atoms that are their ``names``."""
        e = (names or {}).get(e, e)
        if e == UNKNOWN:
            return "?"
        if e < FIRST:
            return str(e)
        op = self.op(e)
        if op == "atom":
            return self.name(e)
        if op == "linear":
            constant, terms = self.linear(e)
            words = [f"(* {c} {self.text(w, names)})" if c != 1 else self.text(w, names) for w, c in terms]
            return f"(+ {' '.join([*words, str(constant)])})"
        return f"({op} {' '.join(self.text(a, names) for a in self.operands(e))})"

    def _entry(
        self, op: str, args: tuple[int, ...], linear: Linear, name: str, bounds: tuple[int, int] | None, key: object
    ) -> int:
        number = self._known.get(key)
        if number is not None:
            return number
        self.ops.append(op)
        self.args.append(args)
        self.linears.append(linear)
        self.names.append(name)
        self.ranges.append(bounds if bounds is not None else self._range(op, args, linear))
        number = self._known[key] = FIRST + len(self.ops) - 1
        if op in ("srl", "sra") and args[1] < FIRST and self.multiple(args[0], 1 << args[1]):
            self._back[number] = args[0], args[1]
        return number

    def _plain(self, op: str, a: int, b: int) -> int:
        if op in COMMUTATIVE and a > b:
            a, b = b, a
        return self._entry(op, (a, b), (0, ()), "", None, key=(op, a, b, "entry"))

    def _make(self, op: str, a: int, b: int) -> int:
        match op:
            case "add":
                return self.sum(0, ((a, 1), (b, 1)))
            case "sub":
                return self.sum(0, ((a, 1), (b, -1)))
            case "sll" if b < FIRST:
                return self.sum(0, ((a, 1 << (b & 31)),))
            case "srl" | "sra" if b < FIRST:
                return self._shift_right(op, a, b & 31)
            case "mul" if a < FIRST or b < FIRST:
                return self.sum(0, ((a, b),) if b < FIRST else ((b, a),))
            case "mul":
                for x, y in ((a, b), (b, a)):
                    constant, terms = self.linear(x)
                    if not constant and len(terms) == 1 and terms[0][1] != 1:
                        return self.sum(0, ((self.make("mul", terms[0][0], y), terms[0][1]),))
            case "and" | "or" | "xor":
                return self._bits(op, a, b)
            case "sltu" | "slt":
                return self._less(op, a, b)
            case "eq":
                return self._equal(a, b)
        if op == "mulhu":
            return self.product(a, b, 32)
        if op in ("mulh", "mulhsu") and self._natural(a) and (op == "mulhsu" or self._natural(b)):
            return self.make("mulhu", a, b)
        return 0 if op.startswith("mulh") and 0 in (a, b) else self._plain(op, a, b)

    def _natural(self, a: int) -> bool:
        low, high = self.range(a)
        return low >= 0 and high < MODULUS >> 1

    def _shift_right(self, op: str, a: int, k: int) -> int:
        low, high = self.range(a)
        if k == 0:
            return a
        if op == "sra" and low >= 0 and high < MODULUS >> 1:
            op = "srl"
        if op == "srl" and low >= 0 and high >> k == 0:
            return 0
        constant, terms = self.linear(a)
        if constant == 0 and len(terms) == 1:  # word << s, and nothing lost by it: the shifts cancel
            word, factor = terms[0]
            shift = factor.bit_length() - 1
            below, above = self.range(word)
            if factor == 1 << shift and shift:
                no_wrap = below >= 0 and above < MODULUS >> shift
                signs = op == "sra" and below << shift >= -(MODULUS >> 1) and above << shift < MODULUS >> 1
                if (no_wrap and op == "srl") or signs:
                    if shift >= k:
                        return self.sum(0, ((word, 1 << (shift - k)),))
                    return self._shift_right(op, word, k - shift)
                if op == "srl" and shift <= k:  # the high bits are dropped, then the low ones
                    return self.make("srl", self._bits("and", word, WORD >> shift), k - shift)
        elif op == "srl" and terms and not any(number & (1 << k) - 1 for number in (constant, *(c for _, c in terms))):
            whole = self.sum(signed(constant) >> k, [(word, signed(factor) >> k) for word, factor in terms])
            least, most = self.range(whole)
            if least >= 0 and most < MODULUS >> k:  # of many words, too
                return whole
        if self.op(a) == op and self.operands(a)[1] < FIRST:
            word, before = self.operands(a)
            if before + k < 32:
                return self._shift_right(op, word, before + k)
            return 0 if op == "srl" else self._plain("sra", word, 31)
        return self._plain(op, a, k)

    def _bits(self, op: str, a: int, b: int) -> int:
        if a < FIRST and b < FIRST:
            return fold(op, a, b)
        if a < FIRST:
            a, b = b, a
        if b >= FIRST:
            if a == b:
                return 0 if op == "xor" else a
            halves = self._halves(a, b) if op == "or" else None
            if halves is not None:
                return halves
            return self.sum(0, ((a, 1), (b, 1))) if op == "or" and self._apart(a, b) else self._plain(op, a, b)
        if b == 0:
            return 0 if op == "and" else a
        if b == WORD:
            return {"and": a, "or": WORD, "xor": self.sum(WORD, ((a, -1),))}[op]
        if op == "xor" and b == MODULUS >> 1:
            return self.sum(b, ((a, 1),))
        low, high = self.range(a)
        if op == "xor" and b == 1 and low >= 0 and high <= 1:
            return self.sum(1, ((a, -1),))
        if op == "and" and b & (b + 1) == 0 and low >= 0 and high <= b:
            return a
        if op == "and" and low >= -1 and high <= 0:  # none of the bits or all, as a sign is spread over a word
            if self.op(a) == "sra" and self.operands(a)[1] == 31:
                return self.sum(0, ((self.make("srl", self.operands(a)[0], 31), b),))
            return self.sum(0, ((a, -b),))
        if op == "and" and self.op(a) == "linear":
            constant, terms = self.linear(a)
            factor = terms[0][1]
            if not constant and len(terms) == 1 and factor & (factor - 1) == 0:  # shifted, then masked: the other way
                k = factor.bit_length() - 1
                return a if b >> k == WORD >> k else self.sum(0, ((self._bits("and", terms[0][0], b >> k), factor),))
        step = b & -b
        if op == "and" and b == MODULUS - step:  # low bits dropped: shifted out and back
            return self.sum(0, ((self.make("srl", a, step.bit_length() - 1), step),))
        if op == "or" and self._apart(a, b):
            return self.sum(b, ((a, 1),))
        if op == "and" and self.op(a) == "or":
            x, y = (self.make("and", part, b) for part in self.operands(a))
            return self.make("or", x, y)
        if op == "and" and self.op(a) == "linear" and b & (b + 1) == 0:  # what the mask drops need not be there
            constant, terms = self.linear(a)
            kept = tuple((word, factor & b) for word, factor in terms)
            if kept != terms or constant & b != constant:
                return self.make("and", self.sum(constant & b, kept), b)
        if op == "and" and self.op(a) == "and":
            for word, mask in (self.operands(a), self.operands(a)[::-1]):
                if mask < FIRST:
                    return self._bits("and", word, mask & b)
        if op == "and" and step > 1 and b & (b + step) == 0:  # neighbouring bits: those above dropped, then those below
            return self._bits("and", self._bits("and", a, b + step - 1), MODULUS - step)
        return self._plain(op, a, b)

    def multiple(self, a: int, step: int) -> bool:
        """Whether the word is surely a multiple of a power of two."""
        return self.step(a) % step == 0

    def step(self, a: int) -> int:
        """A power of two, 2^32 at most, that the word is surely a multiple of."""
        constant, terms = self.linear(a)
        together = constant | MODULUS
        for word, factor in terms:
            together |= factor * self.steps.get(word, 1)
        return together & -together

    def _apart(self, a: int, b: int) -> bool:
        """Whether two words surely share no bit: one is a multiple of a power of two that is above the other."""
        return any(
            self.range(low)[0] >= 0 and self.multiple(high, 1 << self.range(low)[1].bit_length())
            for low, high in ((a, b), (b, a))
        )

    def _halves(self, a: int, b: int) -> int | None:
        """A product shifted across its halves: high << (32 - k) | low >> k."""
        for low, high in ((a, b), (b, a)):
            constant, terms = self.linear(high)
            if self.op(low) != "srl" or self.operands(low)[1] >= FIRST or constant or len(terms) != 1:
                continue
            (part, factor), (product, k) = terms[0], self.operands(low)
            if factor != 1 << (32 - k) or self.op(part) != "product":
                continue
            x, y, shift = self.operands(part)
            turn = 32 - shift  # of the factors' powers of two
            if 0 <= turn <= k and self.sum(0, ((self.make("mul", x, y), 1 << turn),)) == product:
                return self.product(x, y, k - turn)
        return None

    def _less(self, op: str, a: int, b: int) -> int:
        if a == b:
            return 0
        (la, ha), (lb, hb) = self.range(a), self.range(b)
        half = MODULUS >> 1
        if op == "slt" and min(la, lb) >= 0 and max(ha, hb) < half:
            op = "sltu"
        if (op == "sltu" and min(la, lb) >= 0) or (op == "slt" and min(la, lb) >= -half and max(ha, hb) < half):
            if ha < lb:
                return 1
            if la >= hb:
                return 0
        if op == "sltu" and b == 0:
            return 0
        return self._plain(op, a, b)

    def _equal(self, a: int, b: int) -> int:
        difference = self.sum(0, ((a, 1), (b, -1)))
        if difference < FIRST:
            return int(difference == 0)
        _constant, terms = self.linear(difference)
        if terms[0][1] >= MODULUS >> 1:  # one of x - y and y - x
            difference = self.sum(0, ((difference, -1),))
        low, high = self.range(difference)
        if low > 0 or high < 0:
            return 0
        return self._plain("eq", difference, 0)

    def _range(self, op: str, args: tuple[int, ...], linear: Linear) -> tuple[int, int]:
        if op == "linear":
            return self._linear_range(linear)
        (la, ha), (lb, hb) = self.range(args[0]), self.range(args[1])
        if op == "product":
            bounds = (la * lb >> args[2], ha * hb >> args[2])
            return bounds if la >= 0 and lb >= 0 and bounds[1] <= WORD else FULL
        naturals = la >= 0 and lb >= 0
        match op:
            case "srl" if la >= 0:
                return la >> lb, ha >> lb
            case "srl":
                return 0, WORD >> lb
            case "sra" if la >= -(MODULUS >> 1) and ha < MODULUS >> 1:
                return la >> lb, ha >> lb
            case "sra":
                return -(MODULUS >> 1) >> lb, (MODULUS >> 1) - 1 >> lb
            case "and" if args[1] < FIRST or args[0] < FIRST:
                mask = min(args)
                return 0, min(mask, ha if la >= 0 and args[1] < FIRST else mask)
            case "and" | "or" | "xor" if naturals:
                return 0, min(ha, hb) if op == "and" else (1 << max(ha, hb).bit_length()) - 1
            case "sltu" | "slt" | "eq":
                return 0, 1
            case "mul":
                ends = [x * y for x in (la, ha) for y in (lb, hb)]
                if min(ends) >= -(MODULUS >> 1) and max(ends) < (MODULUS if min(ends) >= 0 else MODULUS >> 1):
                    return min(ends), max(ends)
        return FULL

    def _linear_range(self, linear: Linear) -> tuple[int, int]:
        low = high = signed(linear[0])
        for word, coefficient in linear[1]:
            a, b = self.range(word)
            factor = signed(coefficient)
            low += min(a * factor, b * factor)
            high += max(a * factor, b * factor)
        for shift in (0, MODULUS, -MODULUS):
            a, b = low + shift, high + shift
            if (a >= 0 and b <= WORD) or (a >= -(MODULUS >> 1) and b < MODULUS >> 1):
                return a, b
        return FULL

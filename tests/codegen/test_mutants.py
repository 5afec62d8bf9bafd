"""Errors put into the emitted C on purpose: the emitted vectors find every one of them.

Slow: the same errors in two further students.
"""

import re
import shutil
from collections.abc import Callable

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student
from selftests import passed

from codegen.choose import Limits
from codegen.lower import Options
from decision.ir.forest import oblivious

SEEDS = (1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow))
KINDS = ("previous_action", "rl_cc_congestion", "cnp_ratio")


def trained_like(seed: int, *, trees: int = 6, depth: int = 4):
    """The RL-CC observation with CNPs; thresholds over what a network shows, leaves over the whole action range."""
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(trees):
        splits = []
        for feature in rng.integers(0, 6, size=depth).tolist():
            threshold = (
                rng.integers(-9000, 11000),
                int(np.exp(rng.uniform(np.log(50), np.log(60_000)))),
                rng.integers(0, 255),
            )[feature % 3]
            splits.append((feature, int(threshold)))
        drawn.append(oblivious(tuple(splits), tuple(rng.integers(-5000, 6000, size=1 << depth).tolist())))
    features = [FEATURES[kind] for kind in KINDS]
    return make_student(features, ACTIONS[0], tuple(drawn), window=2, bias=1234)


class Lab:
    """One emitted folder; mutants of its C are compiled together, with its vectors, which are compiled once."""

    def __init__(self, folder, compiler, run):
        self.folder, self.compiler, self.run = folder, compiler, run
        self.text = (folder / "rlcc_policy.c").read_text()
        self.header = (folder / "rlcc_policy.h").read_text()

    def survivors(self, mutants):
        """Those that the self-test accepts."""
        kept = passed(mutants, self.folder, self.compiler, self.run)
        return [mutant for mutant, accepted in zip(mutants, kept, strict=True) if accepted]

    def passes(self, text, header=None):
        """Whether the self-test accepts the policy ``text``."""
        folder = self.folder
        if header is not None:
            folder = self.folder / "mutant"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for name in ("rlcc_selftest.c", "vectors.inc"):
                (folder / name).write_bytes((self.folder / name).read_bytes())
            (folder / "rlcc_policy.h").write_text(header)
        return passed([text], folder, self.compiler, self.run) == [True]


@pytest.fixture(scope="module", params=SEEDS)
def lab(request, emitted, tmp_path_factory, host_compiler, run):
    options = Options(form="branches")
    folder = emitted(trained_like(request.param), tmp_path_factory.mktemp("lab"), options=options)
    made = Lab(folder, host_compiler, run)
    assert made.passes(made.text), "the policy itself fails"
    return made


def each(pattern: str, replacement: str | Callable[[re.Match[str]], str], text: str) -> list[str]:
    """One mutant for each place where ``pattern`` stands."""
    found = []
    for match in re.finditer(pattern, text, flags=re.MULTILINE):
        new = match.expand(replacement) if isinstance(replacement, str) else replacement(match)
        found.append(text[: match.start()] + new + text[match.end() :])
    assert found, f"nothing matches {pattern}"
    return found


def shifted(amount: int) -> Callable[[re.Match[str]], str]:
    return lambda m: f"{m[1]}{int(m[2]) + amount}{m[3]}"


THRESHOLD = r"^( +if \(\w+ (?:>|<=) \(?)(-?\d+)(U?\)?\) \{)"
LEAF = r"^( +leaf = \(?)(-?\d+)(\)?;)"
CLAMP = r"^( +(?:const \w+ )?\w+ = )((?:\(\w+\)\()?)\((\w+) [<>] ([\w()-]+)\) \? \3 : \4(\)?;)"
EVERYWHERE = {
    "> flipped to >=": lambda c: each(r"^( +if \(\w+) > ", r"\1 >= ", c) + each(r"^( +if \(\w+) <= ", r"\1 < ", c),
    "threshold + 1": lambda c: each(THRESHOLD, shifted(1), c),
    "threshold - 1": lambda c: each(THRESHOLD, shifted(-1), c),
    "comparison reversed": lambda c: each(r"^( +if \(\w+) > ", r"\1 <= ", c),
    "leaf + 1": lambda c: each(LEAF, shifted(1), c),
    "tree dropped": lambda c: each(r"^ +decided_q16 \+= .*$", "", c),
    "tree counted twice": lambda c: each(r"^( +decided_q16 \+= .*)$", r"\1 \1", c),
    "RTT subtraction reversed": lambda c: each(r"response_ns - request_sent_ns", "request_sent_ns - response_ns", c),
    "shift one too far": lambda c: each(r"((?:>>|<<) )(\d+)(U)", shifted(1), c),
    "shift one too short": lambda c: each(r"((?:>>|<<) )(\d+)(U)", shifted(-1), c),
    "bias lost": lambda c: each(r"int32_t decided_q16 = \(?-?\d+\)?;", "int32_t decided_q16 = 0;", c),
    "new flow not told apart": lambda c: each(r"\(rate_q30 == 0U\) \? \w+ : ", "", c),
    "wide product cut to 32 bits": lambda c: each(
        r"\(\(uint64_t\)(\w+) \* \(uint64_t\)(\w+)\)", r"(uint64_t)(\1 * \2)", c
    ),
    "context not written": lambda c: each(r"^    flow->\w+ = .*$", "", c),
    "history not moved on": lambda c: each(r"(flow->action_2 = \(int16_t\))action_1;", r"\1action_2;", c),
    "history off by one": lambda c: each(r"(flow->action_2 = \(int16_t\))action_1;", r"\1decided_q16;", c),
}


@pytest.mark.parametrize("name", EVERYWHERE)
def test_the_vectors_find_the_mutant_wherever_it_is(name, lab):
    mutants = EVERYWHERE[name](lab.text)
    # All places for one place in four: which quarter depends on the policy. `-m slow` looks at all.
    chosen = mutants if len(mutants) <= 12 else mutants[:: len(mutants) // 12]
    survivors = lab.survivors(chosen)
    assert not survivors, difference(lab.text, survivors[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERYWHERE)
def test_the_vectors_find_every_single_mutant(name, lab):
    survivors = lab.survivors(EVERYWHERE[name](lab.text))
    assert not survivors, f"{len(survivors)} survive, the first: {difference(lab.text, survivors[0])}"


def test_the_vectors_find_a_clamp_removed(lab):
    """Each clamp of the decision on its own gives its first operand instead. (The one on cnp_count_held only helps the
    range analysis: beyond it the ratio is 1 whatever the division gives.)"""
    clamps = [m for m in each(CLAMP, r"\1\2\3\5", lab.text) if "_held" not in difference(lab.text, m)]
    assert len(clamps) >= 5
    survivors = [difference(lab.text, m) for m in lab.survivors(clamps)]
    assert not survivors, survivors


@pytest.mark.parametrize("lag", [1, 2])
def test_the_vectors_find_a_sign_lost(lag, lab):
    """The past action read as unsigned: a multiplier of 0.9 becomes one of 1.9."""
    lost = re.sub(rf"int16_t action_{lag};", f"uint16_t action_{lag};", lab.header)
    assert lost != lab.header
    assert not lab.passes(lab.text, header=lost)


def difference(text: str, mutant: str) -> str:
    pairs = zip(text.splitlines(), mutant.splitlines(), strict=True)
    return next(f"line {n}: {b.strip()}" for n, (a, b) in enumerate(pairs, 1) if a != b)


CLAMP_MOVED = (
    (r"(raw_q10) - 1536U", r"\1 - 1540U"),  # by one it would never show: (1/1024)^2 times any rate is below 1
    (r"(raw_q10) > 1536U", r"\1 > 67072U"),  # between the two what is not wrapped is not asked
    (r"(excess_q10_wrapped) > 65535U", r"\1 > 65536U"),
    (r"\? 65535U", "? 65534U"),
    (r"\(excess_q10_wrapped > 65535U\)[^;]* : (excess_q10_wrapped;)", r"\1"),
    (r"rate_now_q31 \+ rate_now_q31", "rate_now_q31 * 3U"),
)


@pytest.mark.parametrize(("bound", "moved"), CLAMP_MOVED)
def test_the_vectors_find_a_clamp_moved(bound, moved, lab):
    mutant, count = re.subn(bound, moved, lab.text)
    assert count, bound
    assert not lab.passes(mutant)


@pytest.fixture(scope="module")
def joint_lab(emitted, tmp_path_factory, host_compiler, run):
    """A policy whose trees are joint tables in several groups."""
    options = Options(form="joint", limits=Limits(table=1024))
    folder = emitted(trained_like(4), tmp_path_factory.mktemp("joint"), options=options)
    made = Lab(folder, host_compiler, run)
    assert made.passes(made.text), "the policy itself fails"
    return made


def entries_moved(text: str) -> list[str]:
    """One more in one entry of the tables, for some of them."""
    table = re.search(r"leaves\[\d+\] = \{(.*?)\};", text, flags=re.DOTALL)
    entries = re.sub(r"/\*.*?\*/", lambda comment: " " * len(comment[0]), table[1], flags=re.DOTALL)
    places = [(m.start() + table.start(1), m.end() + table.start(1)) for m in re.finditer(r"-?\d+", entries)]
    return [text[:a] + str(int(text[a:b]) + 700) + text[b:] for a, b in places[:: len(places) // 24]]


JOINT = {
    "> flipped to >=": EVERYWHERE["> flipped to >="],
    "threshold + 1": EVERYWHERE["threshold + 1"],
    "threshold - 1": EVERYWHERE["threshold - 1"],
    "comparison reversed": EVERYWHERE["comparison reversed"],
    "place + 1": lambda c: each(r"word = 0x([0-9A-F]+)U", lambda m: f"word = 0x{int(m[1], 16) + 1:X}U", c),
    "feature not placed": lambda c: each(r"^ +place \+= .*$", "", c),
    "table not looked up": lambda c: each(r"^ +decided_q16 \+= .*$", "", c),
    "field shifted one too far": lambda c: each(r"(place >> )(\d+)(U)", shifted(1), c),
    "mask one bit short": lambda c: each(r"(& )(\d+)(U)", lambda m: f"{m[1]}{int(m[2]) >> 1}{m[3]}", c),
    "table of another group": lambda c: each(r"(table_\d+\[)(\d+)(\])", shifted(-1), c),
}


@pytest.mark.parametrize("name", JOINT)
def test_the_vectors_find_the_mutant_of_the_joint_tables(name, joint_lab):
    mutants = JOINT[name](joint_lab.text)
    chosen = mutants if len(mutants) <= 16 else mutants[:: len(mutants) // 16]
    survivors = joint_lab.survivors(chosen)
    assert not survivors, difference(joint_lab.text, survivors[0])


def test_the_vectors_find_entries_that_are_reached(joint_lab):
    """Some combinations of classes no network leads to (a current feature and its own past are free of each other, two
    features of one RTT are not), and a sum may be clamped to the same: nine in ten are found."""
    mutants = entries_moved(joint_lab.text)
    assert len(joint_lab.survivors(mutants)) <= 0.1 * len(mutants)

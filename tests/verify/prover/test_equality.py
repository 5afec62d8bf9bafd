"""The linked code of every compiler and level is proved equal; what is wrong is refused by its name, with an input."""

from pathlib import Path

import policy_by_hand as hand
import pytest

from decision.ir.forest import Forest
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, Program, ProgramBuilder
from emulator.compile import find_gcc
from verify.prover.concrete import Runner
from verify.prover.equality import ENOUGH
from verify.prover.prove import ENTRY, Attempt, Limits, Proof, prove
from verify.prover.refute import refute
from verify.prover.solve import Solvers
from verify.trusted.costs import cycle_model

LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")


def proof_of(
    source: str, folder: Path, *, compiler: str = "clang", opt: str = "-O2", limits: Limits | None = None
) -> Proof:
    image = hand.linked(source, folder, compiler=compiler, opt=opt)
    return prove(image, hand.program(), hand.layouts(), hand.PROFILE, limits=limits)


@pytest.mark.slow_except("clang--O0", "clang--O2", "gcc--O2")
@pytest.mark.parametrize("opt", LEVELS)
@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_right_code_is_proved_and_its_worst_case_attained(compiler: str, opt: str, tmp_path: Path) -> None:
    if compiler == "gcc" and find_gcc() is None:
        pytest.skip("no RISC-V GCC on this machine")
    image = hand.linked(hand.SOURCE, tmp_path, compiler=compiler, opt=opt)
    proof = prove(image, hand.program(), hand.layouts(), hand.PROFILE)
    assert proof.proved, proof.failures
    assert proof.worst is not None
    assert proof.worst.exact is not None
    assert proof.worst.exact <= proof.worst.bound
    runner = Runner(image, hand.program(), hand.layouts(), hand.PROFILE, cycle_model(hand.PROFILE), ENTRY)
    outcome = runner.run(proof.worst.witness)
    assert outcome.equal
    assert outcome.cycles == proof.worst.exact
    assert refute(runner, seed=1).wrong is None


MUTANTS = {
    "compare flipped": ("rtt > 5000U) {", "rtt < 5000U) {", "wrong-"),
    "threshold + 1": ("action > 100", "action > 101", "wrong-"),
    "threshold - 1": ("rtt > 900U) ? -9", "rtt > 899U) ? -9", None),  # rtt > 5000 there: no input sees it
    "threshold of a reachable split - 1": ("rtt > 900U) ? 11", "rtt > 899U) ? 11", "wrong-"),
    "leaf + 1": ("? -1200", "? -1199", "wrong-"),
    "leaf that no input reaches": (": 300", ": 301", None),
    "clamp removed": ("(sum < 200) ? sum : 200", "sum", "wrong-"),
    "rate clamp removed": ("(flow->rate_q30 < 1073741823U) ? flow->rate_q30 : 1073741823U", "flow->rate_q30", "wrong-"),
    "sign extension dropped": ("int32_t action = flow->action", "int32_t action = (uint16_t)flow->action", "wrong-"),
    "a tree lost": ("    sum += tree_1(rtt, action);\n", "", "wrong-"),
    "signed compare of a word": ("static int32_t tree_0(uint32_t rtt", "static int32_t tree_0(int32_t rtt", None),
    "difference without wrap": (
        "uint32_t rtt = event->response_ns - event->request_sent_ns",
        "uint32_t rtt = event->response_ns > event->request_sent_ns ? event->response_ns - event->request_sent_ns : 0U",
        "wrong-",
    ),
    "rounding": ("(rate_new >> 10) + 1U", "(rate_new + 1023U) >> 10", "wrong-result"),
    "context not written": ("    flow->action = (int16_t)sum;\n", "", "wrong-context"),
    "wrong field": ("params->high", "params->low", "wrong-"),
    "store outside": ("flow->rate_q30 = rate_new;", "(&flow->rate_q30)[2] = rate_new;", "store-outside"),
    "store into an input": ("int32_t sum = 10;", "int32_t sum = 10; ((uint32_t *)event)[2] = 1U;", "store-outside"),
    "load outside": ("int32_t sum = 10;", "int32_t sum = (event[1].cnp_count == 7U) ? 11 : 10;", "load-outside"),
    "loop": ("int32_t sum = 10;", "int32_t sum = 10; for (volatile uint32_t i = 0; i < rate; i++) {}", "loop"),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_what_changes_the_decision_is_caught_by_name(name: str, tmp_path: Path) -> None:
    right, wrong, kind = MUTANTS[name]
    assert right in hand.SOURCE
    proof = proof_of(hand.SOURCE.replace(right, wrong, 1), tmp_path, limits=Limits(worst_seconds=1))
    if kind is None:
        assert proof.proved, proof.failures
        return
    assert not proof.proved
    assert proof.failures[0].kind.startswith(kind), proof.failures
    if kind.startswith("wrong"):
        assert proof.failures[0].shown, "an input shows it"
    assert all(f.example for f in proof.failures if f.kind.startswith("wrong"))


def same_word_program() -> Program:
    """Whether a difference with and without its sign is one number; behind a comparison, which is a fact."""
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    b.state_in("rate_q30", "uint32")
    action = b.state_in("action", "int16")
    x, y = (b.add(Op.SHR, (b.event(name),), 1) for name in ("response_ns", "request_sent_ns"))
    same = b.add(Op.EQ, (b.add(Op.WRAP_SUB, (x, y)), b.add(Op.SUB, (x, y))))
    cnps, nacks = b.event("cnp_count"), b.event("nack_count")
    b.state_out("rate_q30", b.add(Op.MAX, (cnps, nacks)))
    b.state_out("action", action)
    more = b.add(Op.ADD, (same, b.const(70_000)))
    return b.finish(b.add(Op.SELECT, (b.add(Op.GT, (cnps, nacks)), same, more)))


@pytest.mark.parametrize("opt", ["-O0", "-O2"])
def test_minus_1_and_the_greatest_word_are_not_the_same_number(opt: str, tmp_path: Path) -> None:
    head = hand.SOURCE[: hand.SOURCE.index("static int32_t tree_0")]
    source = (
        head
        + """
uint32_t rlcc_decide(flow_t *flow, const event_t *event, const params_t *params)
{
    (void)params;
    flow->rate_q30 = (event->cnp_count > event->nack_count) ? event->cnp_count : event->nack_count;
    return (event->cnp_count > event->nack_count) ? 1U : 70001U;
}
"""
    )
    image = hand.linked(source, tmp_path, opt=opt)
    proof = prove(image, same_word_program(), hand.layouts(), hand.PROFILE, limits=Limits(worst_seconds=1))
    assert not proof.proved
    assert proof.failures[0].shown


def test_a_careful_attempt_ends_at_its_first_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question that a solver does not answer takes all its time."""
    asked: list[str] = []

    def unanswered(_: Solvers, question: object, about: str) -> bool:
        asked.append(about)
        return False

    monkeypatch.setattr(Solvers, "prove", unanswered)
    monkeypatch.setattr(Attempt, "search", lambda *_: [])
    monkeypatch.setattr(Attempt, "solved", lambda _, failure: failure)
    source = hand.SOURCE
    for what in ("context not written", "rounding"):
        source = source.replace(*MUTANTS[what][:2])
    proof = proof_of(source, tmp_path, limits=hand.LIMITS)
    assert 1 < len(proof.failures) <= ENOUGH
    assert len(asked) == len(proof.failures) + 2  # two attempts with more care

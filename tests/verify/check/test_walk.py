"""The checker's step over one instruction: each of them, each size and sign, each border of what may be touched."""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from term_values import value_of

from emulator.profile import load_profile
from verify.check import walk
from verify.check.path_facts import Known, Oracle, bounded
from verify.check.refused import Refused
from verify.check.terms import FALSE, TRUE, Term, concat, const, extend, extract, ite, make, negate, var
from verify.check.walk import Code, Lane, at_call, fork, pointer, step
from verify.trusted.calibrate_programs import COMPUTE, encode
from verify.trusted.costs import cycle_model
from verify.trusted.execute import COMPUTED, CONDITIONS
from verify.trusted.machine import BRANCHES, LOADS, STORES, decode

FULL, HALF = 0xFFFF_FFFF, 1 << 31
EDGES = (0, 1, 5, 31, 32, 33, 0x7FFF, 0x8001, HALF - 1, HALF, FULL - 4, FULL)
IMMEDIATES = (-2048, -1, 0, 1, 5, 2047)
PC, RA, SP, A0, A1, A2 = 0x1000, 1, 2, 10, 11, 12
X, Y = var("walk.x"), var("walk.y")
MODEL = replace(cycle_model(load_profile("ibex-small")), table_wait=3)
TABLE, DATA = 0x2000, bytes(range(120, 136))


def value(a: Term, env: dict[Term, int]) -> int:
    return value_of(a, {variable.value: n for variable, n in env.items()}, {})


def test_registers_are_those_of_the_calling_convention() -> None:
    ours = [at_call(r) for r in (walk.RA, walk.SP, walk.A0)]
    assert ours == [var(f"register.{r}") for r in (RA, SP, A0)]


def words(name: str, count: int) -> dict[int, Term]:
    """Bytes of some words of a structure."""
    return {4 * n + k: extract(var(f"{name}.{n}"), 8 * k + 7, 8 * k) for n in range(count) for k in range(4)}


def code(*instructions: int, stack_bytes: int = 64, oracle: Oracle | None = None) -> Code:
    return Code(
        {PC + 4 * n: decode(word, PC + 4 * n) for n, word in enumerate(instructions)},
        (TABLE, DATA),
        {"event": words("event", 2), "params": words("params", 1)},
        {"context": frozenset(range(4)) | frozenset(range(8, 10))},
        stack_bytes,
        MODEL,
        oracle or Oracle(),
    )


def lane(known: Known | None = None, frame: dict[int, Term] | None = None, **registers: Term) -> Lane:
    """At PC, with these registers (r5=..., the pointers in a0 to a2); of all others nothing is known."""
    found: list[Term | None] = [const(0)] + [None] * 31
    found[RA], found[SP] = at_call(RA), at_call(SP)
    found[A0 : A0 + 3] = [pointer(name) for name in ("context", "event", "params")]
    for name, term in registers.items():
        found[int(name[1:])] = term
    flow = {k: t for k, t in words("context", 3).items() if k < 4 or 8 <= k < 10}
    return Lane(PC, tuple(found), frame or {}, flow, known or Known({}))


def after(word: int, start: Lane, **options: Any) -> list[Lane]:
    return list(step(code(word, **options), start))


def taken_by(lanes: Iterable[Lane], env: dict[Term, int]) -> Lane:
    """The one lane of those whose conditions hold."""
    (found,) = [x for x in lanes if all(value(c, env) for c in x.conditions)]
    return found


@pytest.mark.parametrize("name", [n for n in COMPUTE if n != "auipc"])
def test_an_instruction_computes_what_the_simulator_computes(name: str) -> None:
    for imm in IMMEDIATES if name[-1] == "i" or name.endswith("iu") else (0,):
        imm = imm & 31 if name in ("slli", "srli", "srai") else imm
        if name == "lui":
            imm = imm << 12
        lanes = after(encode(name, 7, 5, 6, imm), lane(r5=X, r6=Y))
        for x, y in itertools.product(EDGES, EDGES):
            env = {X: x, Y: y}
            for found in (
                taken_by(lanes, env),
                *after(encode(name, 7, 5, 6, imm), lane(r5=const(x), r6=const(y))),
            ):
                result = found.registers[7]
                assert result is not None
                assert value(result, env) == COMPUTED[name](x, y, imm & FULL), (name, x, y, imm)
                assert (found.pc, found.steps, found.cycles) == (PC + 4, 1, MODEL.step(found.before, False, None))  # type: ignore[arg-type]


def test_auipc_adds_its_own_address() -> None:
    (found,) = after(encode("auipc", 7, imm=5 << 12), lane())
    assert found.registers[7] is const(PC + (5 << 12))


@pytest.mark.parametrize("name", COMPUTE)
def test_nothing_comes_of_nothing(name: str) -> None:
    """A value may be made of what is not known (and is then not known either), but no comparison."""
    for known in ({"r5": X}, {"r6": X}):
        word = encode(name, 7, 5, 6, 4)
        if name in ("lui", "auipc") or (decode(word, PC).rs2 == 0 and "r5" in known):
            continue
        if name in walk.LESS:
            with pytest.raises(Refused, match=r"nothing .*known there"):
                after(word, lane(**known))
        else:
            (found,) = after(word, lane(**known))
            assert found.registers[7] is None


@pytest.mark.parametrize("register", range(32))
def test_each_register_is_written_and_no_other(register: int) -> None:
    start = lane(**{f"r{n}": var(f"walk.r{n}") for n in range(1, 32)})
    (found,) = after(encode("addi", register, 0, imm=7), start)
    wanted = [const(7) if n == register and n else start.registers[n] for n in range(32)]
    assert list(found.registers) == wanted


@pytest.mark.parametrize("register", range(1, 32))
def test_each_register_is_read(register: int) -> None:
    start = lane(**{f"r{n}": var(f"walk.r{n}") for n in range(1, 32)})
    (found,) = after(encode("add", 5, register, 0), start)
    assert found.registers[5] is var(f"walk.r{register}")
    (found,) = after(encode("add", 5, 0, register), start)
    assert found.registers[5] is var(f"walk.r{register}")


@pytest.mark.parametrize("name", BRANCHES)
def test_a_branch_goes_where_the_simulator_goes(name: str) -> None:
    word = encode(name, rs1=5, rs2=6, imm=-16)
    lanes = after(word, lane(r5=X, r6=Y))
    assert len(lanes) == 2
    for x, y in itertools.product(EDGES, EDGES):
        taken = CONDITIONS[name](x, y)
        (decided,) = after(word, lane(r5=const(x), r6=const(y)))
        for found in (taken_by(lanes, {X: x, Y: y}), decided):
            assert found.pc == (PC - 16 if taken else PC + 4)
            assert found.cycles == MODEL.step(decode(word, PC), taken, None)
            assert found.registers == lane(r5=X, r6=Y).registers or found is decided
        assert decided.conditions == ()


def test_both_sides_of_an_open_question_know_their_answer() -> None:
    question = make("bvult", X, const(9))
    (yes, low), (no, high) = fork(code(), lane(), question)
    assert (yes, no) == (TRUE, FALSE)
    assert (low.conditions, high.conditions) == ((question,), (negate(question),))
    assert (low.known.span(X), high.known.span(X)) == ((0, 8), (9, FULL))
    again = [*fork(code(), low, question), *fork(code(), high, question)]
    assert again == [(TRUE, low), (FALSE, high)]
    (further, _) = fork(code(), low, make("bvult", X, const(5)))
    assert further[1].conditions == (question, make("bvult", X, const(5)))


# --- memory ----------------------------------------------------------------------------------------------------------

ENV = {var(f"{name}.{n}"): 0x80FF_7F01 * (n + 3) % 2**32 for name in ("context", "event", "params") for n in range(3)}


def byte(region: str, at: int) -> int:
    if region == "constants":
        return DATA[at]
    return ENV[var(f"{region}.{at // 4}")] >> 8 * (at % 4) & 255


BASES = {"context": (A0, {}), "event": (A1, {}), "params": (A2, {}), "constants": (6, {"r6": const(TABLE)})}
ENDS = {"context": (4, 8, 10), "event": (8,), "params": (4,), "constants": (16,)}


def readable(region: str, at: int, size: int) -> bool:
    if region == "context":
        return all(0 <= k < 4 or 8 <= k < 10 for k in range(at, at + size))
    return 0 <= at <= ENDS[region][0] - size


@pytest.mark.parametrize("region", BASES)
@pytest.mark.parametrize("name", LOADS)
def test_a_load_gives_these_bytes_and_none_beside(name: str, region: str) -> None:
    base, registers = BASES[region]
    size = LOADS[name]
    for at in range(-5, 20):
        word, start = encode(name, 7, base, imm=at), lane(**registers)  # type: ignore[arg-type]
        if at % size:
            with pytest.raises(Refused, match="misaligned"):
                after(word, start)
        elif not readable(region, at, size):
            with pytest.raises(Refused, match=r"where nothing is|outside the constants"):
                after(word, start)
        else:
            (found,) = after(word, start)
            bytes_ = bytes(byte(region, k) for k in range(at, at + size))
            wanted = int.from_bytes(bytes_, "little", signed=name in ("lb", "lh")) % 2**32
            assert found.registers[7] is not None
            assert (found.conditions, found.known) == ((), start.known)
            assert value(found.registers[7], ENV) == wanted, (name, region, at)
            wait = 3 if region == "constants" else 0
            assert found.cycles == MODEL.step(decode(word, PC), False, None) + wait


@pytest.mark.parametrize("name", STORES)
def test_a_store_changes_these_bytes_and_none_beside(name: str) -> None:
    size = STORES[name]
    for base, region in ((A0, "context"), (SP, "frame")):
        for at in range(-70, 20):
            word, start = encode(name, rs1=base, rs2=5, imm=at), lane(r5=X)
            inside = (
                all(0 <= k < 4 or 8 <= k < 10 for k in range(at, at + size))
                if region == "context"
                else at >= -64 and at + size <= 0
            )
            if at % size or not inside:
                with pytest.raises(Refused, match="misaligned" if at % size else "goes outside"):
                    after(word, start)
                continue
            (found,) = after(word, start)
            memory = found.context if region == "context" else found.frame
            before = start.context if region == "context" else start.frame
            assert {k: t for k, t in memory.items() if not at <= k < at + size} == {
                k: t for k, t in before.items() if not at <= k < at + size
            }
            for k in range(size):
                assert value(memory[at + k], {X: 0x8123_4567}) == 0x8123_4567 >> 8 * k & 255
            assert found.written == (frozenset(range(at, at + size)) if region == "context" else frozenset())
            assert found.deepest == (0 if region == "context" else -at)
            assert (found.frame if region == "context" else found.context) == (
                start.frame if region == "context" else start.context
            )
            assert found.registers == start.registers
            assert found.pc == PC + 4


@pytest.mark.parametrize("base", [A1, A2, 6, 7])
def test_a_store_anywhere_else_is_refused(base: int) -> None:
    with pytest.raises(Refused, match="goes outside"):
        after(encode("sw", rs1=base, rs2=5), lane(r5=X, r6=const(TABLE), r7=Y))


def test_an_action_holds_what_was_written_to_it_and_nothing_else() -> None:
    start = lane(r5=X, r6=Y, r8=pointer("action"))
    instructions = [encode("sw", rs1=8, rs2=5), encode("sh", rs1=8, rs2=6, imm=4), encode("lw", 9, 8)]
    program = replace(code(*instructions, encode("lbu", 9, 8, imm=6)), fields={"action": frozenset(range(8))})
    found = start
    for _ in instructions:
        (found,) = step(program, found)
    env = {X: 0x1234_89AB, Y: 0x5678}
    wanted = [0xAB, 0x89, 0x34, 0x12, 0x78, 0x56]
    assert [value(found.action[k], env) for k in sorted(found.action)] == wanted
    assert found.registers[9] is X
    assert (found.context, found.frame, found.written, found.deepest) == (start.context, {}, frozenset(), 0)
    with pytest.raises(Refused, match="where nothing is"):
        list(step(program, found))
    beyond = replace(code(encode("sw", rs1=8, rs2=5, imm=8)), fields=program.fields)
    with pytest.raises(Refused, match="goes outside"):
        list(step(beyond, start))


def test_what_was_stored_is_loaded_by_any_size() -> None:
    start = lane(r5=X)
    program = code(
        encode("sw", rs1=SP, rs2=5, imm=-8),
        encode("sh", rs1=SP, rs2=0, imm=-6),
        encode("lw", 6, SP, imm=-8),
        encode("lh", 7, SP, imm=-8),
        encode("lbu", 8, SP, imm=-7),
        encode("lw", 9, SP, imm=-4),
    )
    for _ in range(5):
        (start,) = step(program, start)
    env = {X: 0x1234_89AB}
    assert [value(start.registers[r], env) for r in (6, 7, 8)] == [0x89AB, 0xFFFF_89AB, 0x89]  # type: ignore[arg-type]
    assert start.deepest == 8
    with pytest.raises(Refused, match="where nothing is"):
        list(step(program, start))
    deeper = code(encode("sw", rs1=SP, rs2=5, imm=-4))
    assert [x.deepest for x in step(deeper, replace(start, pc=PC))] == [8]
    twice = replace(start, written=frozenset({0, 1}))
    (found,) = step(code(encode("sh", rs1=A0, rs2=5, imm=8)), replace(twice, pc=PC))
    assert found.written == {0, 1, 8, 9}


def test_an_address_is_a_pointer_and_a_distance() -> None:
    base = make("bvadd", pointer("event"), const(-4))
    (found,) = after(encode("lw", 7, 5, imm=8), lane(r5=base))
    assert found.registers[7] is var("event.1")
    (found,) = after(encode("lw", 7, 5, imm=4), lane(r5=base))
    assert found.registers[7] is var("event.0")
    newer = make("bvadd", pointer("event"), var("walk.newer"))
    for wrong in (make("bvadd", pointer("event"), X), make("bvxor", pointer("event"), const(4)), X, newer):
        with pytest.raises(Refused, match=r"address .*not known"):
            after(encode("lw", 7, 5), lane(r5=wrong))


def test_an_entry_of_a_table_is_each_that_it_may_be() -> None:
    index = make("bvshl", X, const(2))
    address = make("bvadd", index, const(TABLE))
    known = Known({X: bounded(1, 3), index: bounded(4, 12)})
    lanes = after(encode("lw", 7, 5), lane(known, r5=address))
    assert len(lanes) == 3
    for k in (1, 2, 3):
        found = taken_by(lanes, {X: k})
        assert found.registers[7] is const(int.from_bytes(DATA[4 * k : 4 * k + 4], "little"))
        assert found.cycles == MODEL.step(decode(encode("lw", 7, 5), PC), False, None) + 3
        assert found.known.span(address) == (TABLE + 4 * k, TABLE + 4 * k)
        assert found.conditions == (make("=", address, const(TABLE + 4 * k)),)


def test_addresses_between_two_entries_are_asked_about_once() -> None:
    """Four words of a table: whether an address is between two, and whether it is each of them, both ways."""
    oracle, index = Oracle(), make("bvand", X, const(12))
    lanes = after(encode("lw", 7, 5), lane(r5=make("bvadd", index, const(TABLE))), oracle=oracle)
    assert sorted(found.registers[7].value for found in lanes) == [
        int.from_bytes(DATA[4 * k : 4 * k + 4], "little") for k in range(4)
    ]
    assert oracle.asked <= 2 + 2 * 4


def test_an_address_that_is_a_choice_among_numbers_is_each_of_them() -> None:
    low, high = make("bvult", const(7), X), make("bvslt", Y, const(0))
    index = make(
        "bvadd", ite(low, ite(make("bvult", const(9), X), const(2), const(1)), const(0)), ite(high, const(4), const(0))
    )
    address = make("bvadd", const(TABLE), extend(extract(index, 3, 0), 32, False))
    lanes = after(encode("lbu", 7, 5), lane(r5=address))
    assert len(lanes) == 6
    for x, y in itertools.product((7, 8, 10), (-1, 0)):
        found = taken_by(lanes, {X: x, Y: y & FULL})
        assert found.registers[7] is const(DATA[max(x - 7, 0) - (x == 10) + 4 * (y < 0)])
        assert found.known.span(X) == {7: (0, 7), 8: (8, 9), 10: (10, FULL)}[x]
    assert len(after(encode("lbu", 7, 5), lane(Known({X: bounded(0, 9)}), r5=address))) == 4
    beyond = make("bvadd", address, const(11))
    with pytest.raises(Refused, match="outside the constants"):
        after(encode("lbu", 7, 5), lane(r5=beyond))
    assert len(after(encode("lbu", 7, 5), lane(Known({X: bounded(0, 7)}), r5=beyond))) == 2


@pytest.mark.parametrize(
    "inner",
    [
        lambda w: extend(extract(w, 7, 2), 32, False),
        lambda w: extend(extract(w, 7, 2), 32, True),
        lambda w: concat(extract(w, 15, 8), extract(w, 31, 16)),
        lambda w: extract(make("prod", w, w), 31, 0),
    ],
)
def test_a_word_with_a_condition_decided_is_the_word_where_it_holds(inner: Callable[[Term], Term]) -> None:
    condition = make("bvult", const(7), X)
    word = inner(ite(condition, const(0x1284), const(0x348)))
    for side, x in ((TRUE, 8), (FALSE, 7)):
        (found,) = walk._each(code(), lane(Known({X: bounded(x, x)})), extend(word, 32, False))
        assert found[1] == value(extend(word, 32, False), {X: x})
        assert walk._where(extend(word, 32, False), condition, side).value == found[1]


def test_an_entry_beyond_the_table_is_refused_and_so_is_one_between_two() -> None:
    address = make("bvadd", X, const(TABLE))
    with pytest.raises(Refused, match="outside the constants"):
        after(encode("lbu", 7, 5), lane(Known({X: bounded(15, 16)}), r5=address))
    assert len(after(encode("lbu", 7, 5), lane(Known({X: bounded(14, 15)}), r5=address))) == 2
    with pytest.raises(Refused, match="misaligned"):
        after(encode("lhu", 7, 5), lane(Known({X: bounded(2, 3)}), r5=address))


@pytest.mark.parametrize(("name", "most"), [("lbu", 4096), ("lhu", 8192), ("lw", 16384)])
def test_a_table_has_so_many_entries_at_most(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Known, "decide", lambda *_: FALSE)
    address = make("bvadd", X, const(TABLE))
    assert after(encode(name, 7, 5), lane(Known({X: bounded(0, most - 1)}), r5=address)) == []
    with pytest.raises(Refused, match="not known"):
        after(encode(name, 7, 5), lane(Known({X: bounded(0, most)}), r5=address))


# --- jumps -----------------------------------------------------------------------------------------------------------


def test_jumps_link_and_go() -> None:
    (found,) = after(encode("jal", 5, imm=-64), lane())
    assert (found.pc, found.registers[5], found.cycles) == (PC - 64, const(PC + 4), 2)
    (found,) = after(encode("jalr", 5, 6, imm=3), lane(r6=const(0x3000)))
    assert (found.pc, found.registers[5]) == (0x3002, const(PC + 4))
    (found,) = after(encode("jalr", 0, 6), lane(r6=const(0x3000)))
    assert (found.pc, found.registers) == (0x3000, lane(r6=const(0x3000)).registers)


def test_a_return_is_a_jump_to_where_the_caller_said() -> None:
    (found,) = after(encode("jalr", 0, RA), lane())
    assert found.pc == -1
    (found,) = after(encode("jalr", 0, 5), lane(r5=at_call(RA)))
    assert found.pc == -1
    for word, start in (
        (encode("jalr", RA, RA), lane()),
        (encode("jalr", 0, RA, imm=4), lane()),
        (encode("jalr", 0, 5), lane(r5=at_call(5))),
        (encode("jalr", 0, 5), lane(r5=X)),
    ):
        with pytest.raises(Refused, match="to one place"):
            after(word, start)


def test_a_path_has_so_many_steps_at_most() -> None:
    word = encode("jal", 0, imm=0)
    assert len(after(word, replace(lane(), steps=walk.MAX_STEPS))) == 1
    with pytest.raises(Refused, match="a loop"):
        after(word, replace(lane(), steps=walk.MAX_STEPS + 1))
    with pytest.raises(Refused, match="leaves the code"):
        after(word, replace(lane(), pc=PC + 4))


def test_cycles_and_steps_add_up_and_the_instruction_before_is_known() -> None:
    slow = replace(MODEL, writeback_stage=True)
    program = replace(code(encode("lw", 5, A1), encode("addi", 6, 5)), model=slow)
    (first,) = step(program, lane())
    (second,) = step(program, first)
    assert (second.steps, second.pc, second.before) == (2, PC + 8, decode(encode("addi", 6, 5), PC + 4))
    assert second.cycles == slow.step(first.before, False, None) + slow.step(second.before, False, first.before)  # type: ignore[arg-type]
    assert second.cycles == 1 + 2

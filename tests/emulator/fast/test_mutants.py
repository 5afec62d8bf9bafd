"""Each figure and each rule of the timing, wrong by one, and each operation taken for another, is seen.

A small program holds each aspect once: its comparison with the RTL is empty with the right figures alone.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from programs import Pair, both, engine, inputs, linked

from emulator import fast
from emulator.core_run import run_on_core
from emulator.elf import Image
from emulator.fast.machine import STATES
from emulator.profile import Profile
from emulator.rtl_run import RtlRun

ASPECTS = """
mv t6, a0
lw t0, 0(a1)
lw t1, 4(a1)
mul t2, t0, t1
mulh t2, t2, t0
lw a2, 8(a1)
add a2, a2, t2
sw a2, 0(a0)
jal t2, 1f
nop
1: lb a3, 3(a1)
lh t0, 10(a1)
blt t0, t1, 2f
lbu t2, 1(a1)
sw t2, 8(a0)
lhu t2, 2(a1)
sw t2, 4(a0)
2: lw a2, 0(a1)
bltu a2, t1, 3f
sra a2, a2, 3
sltu a3, a3, t0
3: lw t2, 12(a1)
beq zero, zero, 4f
nop
4: add a0, a2, a3
mulhsu t0, t0, a3
xor a0, a0, t0
lw a2, 32(a1)
lw a3, 0(a1)
lw a4, 32(t6)
lw a5, 48(a1)
xor a0, a0, a2
ret
"""
BITS = ASPECTS.replace("ret", "rol a0, a0, t0\nret")
SPLIT = "lw t0, 0(a1)\nc.nop\nlla a2, 1f\nbltz t0, 1f\nc.nop\n.option norvc\n1: addi a0, t0, 1\naddi a0, a0, 1\nret"
FIGURES = ("branch_taken", "product", "high_product", "access", "jump")
RECORDS = inputs(11, 64)


def rtl(image: Image, profile: Profile) -> RtlRun:
    return run_on_core(image, "f", profile, RECORDS)


@pytest.mark.parametrize("step", [-1, 1])
@pytest.mark.parametrize("name", ["ibex-small", "ibex-maxperf"])
def test_every_figure_counts(name: str, step: int) -> None:
    profile = engine(name)
    image, right = linked(ASPECTS, profile), fast.timing(profile)
    measured = rtl(image, profile)
    assert Pair(measured, fast.run(image, "f", profile, RECORDS)).differences() == []
    more = ("load_use",) if name == "ibex-maxperf" else ()
    for figure in (*FIGURES, *more):
        wrong = replace(right, **{figure: getattr(right, figure) + step})  # type: ignore[arg-type]
        assert Pair(measured, fast.run(image, "f", profile, RECORDS, figures=wrong)).differences(), figure


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        (engine("ibex-maxperf", data=2), {"data_wait": 1}),
        (engine("ibex-maxperf", data=2), {"data_wait": 3}),
        (engine("ibex-maxperf", data=2), {"early_jump": False}),
        (engine("ibex-maxperf", data=2), {"load_use": 0}),
        (engine("ibex-small", data=2), {"access": 3}),
    ],
)
def test_every_rule_of_waiting_counts(changed: Profile, wrong: dict[str, int]) -> None:
    image = linked(ASPECTS, changed)
    measured = rtl(image, changed)
    assert Pair(measured, fast.run(image, "f", changed, RECORDS)).differences() == []
    figures = replace(fast.timing(changed), **wrong)  # type: ignore[arg-type]
    assert Pair(measured, fast.run(image, "f", changed, RECORDS, figures=figures)).differences()


@pytest.mark.slow  # cores of their own
@pytest.mark.parametrize(
    ("assembly", "isa", "figure"),
    [(SPLIT, "rv32imc", "split_target"), (BITS, "rv32im_zba_zbb_zbs", "rotation")],
)
def test_every_figure_of_the_extensions_counts(assembly: str, isa: str, figure: str) -> None:
    profile = engine("ibex-small", isa=isa)
    image, right = linked(assembly, profile), fast.timing(profile)
    assert both(image, profile, RECORDS).differences() == []
    wrong = replace(right, **{figure: getattr(right, figure) + 1})  # type: ignore[arg-type]
    assert Pair(rtl(image, profile), fast.run(image, "f", profile, RECORDS, figures=wrong)).differences()


CACHED = engine("ibex-small", fetch=(128, 16, 2, 7), data=(64, 16, 2, 9))
WAITS = engine("ibex-maxperf", fetch=2, data=3)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (WAITS, engine("ibex-maxperf", fetch=3, data=3)),
        (WAITS, engine("ibex-maxperf", fetch=1, data=3)),
        (WAITS, engine("ibex-maxperf", fetch=2, data=2)),
        (WAITS, engine("ibex-small", fetch=2, data=3)),
        (CACHED, engine("ibex-small", fetch=(128, 16, 2, 6), data=(64, 16, 2, 9))),
        (CACHED, engine("ibex-small", fetch=(128, 16, 1, 7), data=(64, 16, 2, 9))),
        (CACHED, engine("ibex-small", fetch=(128, 8, 2, 7), data=(64, 16, 2, 9))),
        (CACHED, engine("ibex-small", fetch=(256, 16, 2, 7), data=(64, 16, 2, 9))),
        (CACHED, engine("ibex-small", fetch=(128, 16, 2, 7), data=(64, 16, 2, 8))),
        (CACHED, engine("ibex-small", fetch=(128, 16, 2, 7), data=(64, 32, 2, 9))),
        (CACHED, engine("ibex-small", fetch=(128, 16, 2, 7))),
    ],
)
def test_every_figure_of_the_memories_counts(right: Profile, wrong: Profile) -> None:
    image, seen = linked(ASPECTS, right), []
    for state in STATES:
        measured = run_on_core(image, "f", right, RECORDS, state=state)
        assert Pair(measured, fast.run(image, "f", right, RECORDS, state=state)).differences() == []
        seen += Pair(measured, fast.run(image, "f", wrong, RECORDS, state=state)).differences()
    assert seen


def test_what_the_caches_hold_counts() -> None:
    roomy = engine("ibex-small", fetch=(1024, 16, 2, 7), data=(1024, 16, 2, 9))
    image = linked(ASPECTS, roomy)
    runs = [fast.run(image, "f", roomy, RECORDS, state=state) for state in STATES]
    for n, run in enumerate(runs):
        for other in runs[n + 1 :]:
            assert Pair(run, other).differences()


@pytest.mark.parametrize("name", ["ibex-small", "ibex-maxperf"])
def test_tables_wait_in_a_memory_of_their_own(name: str) -> None:
    def tables(waits: int) -> Profile:
        table = {"wait_states": waits, "reason": "to see whether it counts"}
        return Profile.model_validate(engine(name, data=1).model_dump() | {"table_memory": table})

    body = "lui a2, %hi(table)\nlw a3, %lo(table)(a2)\nadd a0, a3, a3\nlw a2, %lo(table+4)(a2)\nlw a4, 0(a1)\nret"
    section = ".section .rodata\n.balign 4\n.local table\ntable: .word 5, 6\n.text"
    image = linked(f"{body}\n{section}", tables(0))
    runs = {}
    for waits in (0, 1, 7):
        pair = both(image, tables(waits), RECORDS)
        assert pair.rtl.fault is None
        assert pair.differences() == []
        runs[waits] = pair.ours.cycles
    assert (runs[7] == runs[1] + 12).all()


MISTAKES = {  # a word of ASPECTS taken for another instruction: mnemonic, bits that change
    "lb without its sign": ("lb a3", "lbu a3"),
    "lh without its sign": ("lh t0", "lhu t0"),
    "lbu with a sign": ("lbu t2", "lb t2"),
    "lhu with a sign": ("lhu t2", "lh t2"),
    "sra without its sign": ("sra a2", "srl a2"),
    "blt without signs": ("blt t0", "bltu t0"),
    "bltu with signs": ("bltu a2", "blt a2"),
    "sltu with signs": ("sltu a3", "slt a3"),
    "mulh without signs": ("mulh t2", "mulhu t2"),
    "mulhsu with two signs": ("mulhsu t0", "mulh t0"),
    "an offset off by four": ("lw a2, 8(a1)", "lw a2, 4(a1)"),
    "x0 that keeps a value": ("jal t2, 1f", "jal t1, 1f"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_every_mistaken_operation_is_seen(mistake: str) -> None:
    profile = engine("ibex-small")
    before, after = MISTAKES[mistake]
    assert before in ASPECTS
    right, wrong = linked(ASPECTS, profile), linked(ASPECTS.replace(before, after), profile)
    ours = fast.run(right, "f", profile, RECORDS)
    theirs = fast.run(wrong, "f", profile, RECORDS)
    assert Pair(ours, theirs).differences()


def test_a_single_wrong_cycle_result_or_byte_is_told() -> None:
    profile = engine("ibex-small")
    run = fast.run(linked(ASPECTS, profile), "f", profile, RECORDS)
    for what in ("cycles", "returned"):
        changed = getattr(run, what).copy()
        changed[-1] += 1
        (difference,) = Pair(run, replace(run, **{what: changed})).differences()
        assert difference.startswith(f"{what} of call 63: ")
        assert re.findall(r"\d+", difference) == ["63", str(getattr(run, what)[-1]), str(changed[-1]), "1"]
    out = run.written["out"].copy()
    out.view(np.uint8)[-1] ^= 1
    assert len(Pair(run, replace(run, written={"out": out})).differences()) == 1

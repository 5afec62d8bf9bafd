"""Each figure and each rule of the timing, wrong by one, and each operation taken for another, is seen.

A small program holds each aspect once: its comparison with the RTL is empty with the right figures alone.
"""

from dataclasses import replace

import numpy as np
import pytest
from programs import Pair, both, engine, inputs, linked

from emulator import fast
from emulator.objects import Image
from emulator.profile import Profile
from emulator.rtl_run import RtlRun, run_on_core

ASPECTS = """
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
        assert Pair(run, replace(run, **{what: changed})).differences() == [
            f"{what} of call 63: {getattr(run, what)[-1]} and {changed[-1]}, 1 in all"
        ]
    out = run.written["out"].copy()
    out.view(np.uint8)[-1] ^= 1
    assert len(Pair(run, replace(run, written={"out": out})).differences()) == 1

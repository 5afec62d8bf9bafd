"""Machine code and program with one thing wrong: each is refuted, or refused by its name."""

from pathlib import Path

import pytest
from rv64_by_hand import CODE, LEAVES, MOST, THRESHOLD, assembled, image_of, program, proved

SHOWN = {  # what is replaced, by what, the kind of failure; an input shows each
    "branch the other way": ("bltu t0", "bgeu t0", "wrong-result"),
    "threshold one more": (f"li s0, {THRESHOLD + 1}", f"li s0, {THRESHOLD + 2}", "wrong-result"),
    "threshold one less": (f"li s0, {THRESHOLD + 1}", f"li s0, {THRESHOLD}", "wrong-result"),
    "lw for lwu": (f"lwu t1, {MOST}", f"lw t1, {MOST}", "wrong-result"),
    "subw without zeros above": ("    slli t0, t0, 32\n    srli t0, t0, 32\n", "", "wrong-result"),
    "lhu for lh": ("lh t1", "lhu t1", "wrong-result"),
    "result without its sign": ("    sext.w a0, a0\n", "", "wrong-result"),
    "mulw for mul": ("mul t1", "mulw t1", "wrong-result"),
    "sra for srl": ("srli a0, t1, 5", "sraiw a0, t1, 5", "wrong-result"),
    "context written late": (
        "    sh t1, 4(a0)\n    addiw t1, t1, 16\n",
        "    addiw t1, t1, 16\n    sh t1, 4(a0)\n",
        "wrong-context",
    ),
    "store left out": ("sw t0, 0(a0)", "nop", "wrong-context"),
    "second store left out": ("    sh t1, 4(a0)\n", "", "wrong-context"),
    "store one field off": ("sh t1, 4(a0)", "sh t1, 6(a0)", "wrong-context"),
    "byte for half": ("sh t1, 4(a0)", "sb t1, 4(a0)", "wrong-context"),
    "table beyond its end": ("slli s0, s0, 1", "slli s0, s0, 2", "load-outside"),
}
REFUSED = {
    "store one byte off": ("sh t1, 4(a0)", "sh t1, 5(a0)", "misaligned"),
    "store behind the context": ("sh t1, 4(a0)", "sh t1, 8(a0)", "store-outside"),
    "store into the event": ("sw t0, 0(a0)", "sw t0, 0(a1)", "store-outside"),
    "store to a number": ("sw t0, 0(a0)", "sw t0, 0(t1)", "load-address"),
    "store to the constants": ("sw t0, 0(a0)", "lui t2, 0x10000\n    sw t0, 64(t2)", "store-outside"),
    "stack above the pointer": ("sd s0, 8(sp)", "sd s0, 16(sp)", "store-outside"),
    "stack beyond its limit": ("sd s0, 8(sp)", "sd s0, -64(sp)", "stack-size"),
    "frame beyond its limit": ("addi sp, sp, -16", "addi sp, sp, -2048", "stack-size"),
    "frame off its 16 bytes": ("addi sp, sp, -16", "addi sp, sp, -24", "stack-pointer"),
    "store below the stack pointer": ("sd s0, 8(sp)", "sd s0, -8(sp)", "stack-pointer"),
    "load from a frame given back": (
        "    ld s0, 8(sp)\n    addi sp, sp, 16\n",
        "    addi sp, sp, 16\n    ld s0, -8(sp)\n",
        "stack-pointer",
    ),
    "load of two fields": ("lwu t0, 0(a1)", "ld t0, 0(a1)", "misaligned"),
    "load behind the event": ("lwu t0, 0(a1)", "lwu t0, 400(a1)", "load-outside"),
    "saved register lost": ("    ld s0, 8(sp)\n", "", "callee-saved"),
    "thread pointer lost": ("    ld s0", "    li tp, 0\n    ld s0", "callee-saved"),
    "stack pointer lost": ("addi sp, sp, 16", "addi sp, sp, 8", "stack-pointer"),
    "register that nothing wrote": ("mv t0, t1", "mv t0, t3", "load-unwritten"),
    "stack that nothing wrote": ("ld s0, 8(sp)", "ld s0, 0(sp)", "load-unwritten"),
    "jump to a number": ("    ret", "    jr t0", "indirect-jump"),
    "return to a number": ("    ret", "    mv ra, t0\n    ret", "indirect-jump"),
    "end without a return": ("    ret\n", "", "indirect-jump"),
    "loop": ("    ret", "2:  j 2b", "loop"),
    "division": ("mul t1", "divu t1", "illegal-instruction"),
    "system call": ("    ret", "    ecall\n    ret", "illegal-instruction"),
    "atomic": ("sw t0, 0(a0)", "amoswap.w t0, t0, (a0)", "illegal-instruction"),
    "pointer as a number": ("mv t0, t1", "xor t0, a0, t1", "not-proved"),
}


def mutant(old: str, new: str, folder: Path) -> bytes:
    assert CODE.count(old) == 1
    return assembled(CODE.replace(old, new), folder)


def test_the_code_is_the_program(tmp_path: Path) -> None:
    proof = proved(image_of(assembled(CODE, tmp_path)), program())
    assert proof.failure is None
    assert (proof.outputs, proof.stack_bytes) == (3, 16)
    assert proof.cuts > 0


@pytest.mark.slow_except(
    "threshold one more",
    "sra for srl",
    "result without its sign",
    "lw for lwu",
    "subw without zeros above",
    "mulw for mul",
    "context written late",
    "store left out",
    "branch the other way",
    "table beyond its end",
    "byte for half",
    "second store left out",
    "lhu for lh",
    "store one field off",
)
@pytest.mark.parametrize("name", SHOWN)
def test_wrong_code_is_shown_by_an_input(name: str, tmp_path: Path) -> None:
    old, new, kind = SHOWN[name]
    failure = proved(image_of(mutant(old, new, tmp_path)), program()).failure
    assert failure is not None
    if kind == "wrong-result":
        assert failure.kind in ("wrong-result", "wrong-context")
    else:
        assert failure.kind == kind
    assert failure.example


@pytest.mark.parametrize("name", REFUSED)
def test_code_that_does_what_it_may_not_is_refused(name: str, tmp_path: Path) -> None:
    old, new, kind = REFUSED[name]
    failure = proved(image_of(mutant(old, new, tmp_path)), program()).failure
    assert failure is not None
    assert failure.kind == kind


@pytest.mark.parametrize("leaves", [(-4, 6), (-5, 7), (6, -5), (-5,)])
def test_wrong_constants_are_shown_by_an_input(leaves: tuple[int, ...], tmp_path: Path) -> None:
    failure = proved(image_of(assembled(CODE, tmp_path), leaves), program()).failure
    assert failure is not None
    assert failure.example


@pytest.mark.slow_except("1000-leaves2")
@pytest.mark.parametrize(
    ("threshold", "leaves"), [(THRESHOLD + 1, LEAVES), (THRESHOLD - 1, LEAVES), (THRESHOLD, (-5, 7))]
)
def test_another_program_is_shown_by_an_input(threshold: int, leaves: tuple[int, int], tmp_path: Path) -> None:
    image = image_of(assembled(CODE, tmp_path))
    failure = proved(image, program(threshold, leaves)).failure
    assert failure is not None
    assert failure.example
    assert "code" in failure.shown
    assert failure.kind in ("wrong-result", "wrong-context")
    least = (failure.example["event.response_ns"] - failure.example["event.request_sent_ns"]) % (1 << 32)
    least = min(least, failure.example["params.rate_max_q30"])
    if threshold != THRESHOLD:  # the only value that the two decide differently
        assert least == max(threshold, THRESHOLD)

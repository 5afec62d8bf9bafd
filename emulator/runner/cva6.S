# The program around the measured function on an RV64 core with caches of its own. It lies outside the cached region, as
# does what it shares with the test bench at RLCC_SHARED, so that neither takes a line of the caches from the function.
#
# One round: copy the argument structures to their places through the core's own stores (the bench cannot reach into the
# data cache), wait until they are in memory, empty the instruction cache where asked to, call the function, call it once
# more right away where the bench wants decisions back to back, report.
#
# RLCC_SHARED + 0: a0..a3 of the first call; + 32: of the second (a0 = 0: none); + 64, + 72: what they returned; + 80: a
# store here ends the round; + 88: 1 to empty the instruction cache; + 128: pairs (from, to), each with the words to go
# there; from = 0 ends the list.
#
# The core runs ahead of a fence and past it, so that the function could begin before its time and warm its own caches. Hence
# all that it needs, its address too, depends on a load after the fence, which is not cacheable and so is never done
# ahead.
    .option norvc
    .section .vectors, "ax"
    .globl _start
_start:
    li    s0, RLCC_SHARED
    li    sp, RLCC_STACK_TOP
next_round:
    addi  t0, s0, 128
next_block:
    ld    t1, 0(t0)
    ld    t2, 8(t0)
    addi  t0, t0, 16
    beqz  t1, copied
next_word:
    lw    t3, 0(t0)
    sw    t3, 0(t1)
    addi  t0, t0, 4
    addi  t1, t1, 4
    bltu  t1, t2, next_word
    addi  t0, t0, 7
    andi  t0, t0, -8
    j     next_block
copied:
    ld    s6, 8(s0)
    ld    s7, 16(s0)
    ld    s8, 24(s0)
    ld    s1, 32(s0)
    ld    s2, 40(s0)
    ld    s3, 48(s0)
    ld    s4, 56(s0)
    la    s9, RLCC_ENTRY
    ld    t1, 88(s0)
    beqz  t1, 1f
    .word 0x0000100f                # fence.i, spelt so that every assembler takes it without Zifencei
1:  fence
    ld    a0, 0(s0)
    sub   t0, a0, a0
    add   a1, s6, t0
    add   a2, s7, t0
    add   a3, s8, t0
    add   t1, s9, t0
    jalr  ra, 0(t1)
    .globl rlcc_back
rlcc_back:
    mv    s5, a0
    beqz  s1, reported
    mv    a0, s1
    mv    a1, s2
    mv    a2, s3
    mv    a3, s4
    jal   ra, RLCC_ENTRY
    mv    s6, a0
reported:
    sd    s5, 64(s0)
    sd    s6, 72(s0)
    fence
    sd    zero, 80(s0)
    fence
    j     next_round

# The program around the measured function on an RV64 core with caches of its own. It lies outside the cached region, as
# does the test bench's region at RLCC_SHARED, so that neither takes a line of the caches from the function.
#
# One round: copy the argument structures to their places through the core's own stores (the bench could not reach the data cache
# otherwise), wait until they are in memory (fence), call the function, call it a second time at once where the bench
# wants back-to-back decisions, report. RLCC_SHARED + 0: a0..a3 of the first call, + 32: of the second (a0 = 0: none),
# + 64, + 72: what they returned, + 80: a store here ends the round, + 128: pairs (from, to), then the words between;
# from = 0 ends the list.
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
    ld    a0, 0(s0)
    ld    a1, 8(s0)
    ld    a2, 16(s0)
    ld    a3, 24(s0)
    ld    s1, 32(s0)
    ld    s2, 40(s0)
    ld    s3, 48(s0)
    ld    s4, 56(s0)
    fence
    jal   ra, RLCC_ENTRY
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
    li    s0, RLCC_SHARED
    sd    s5, 64(s0)
    sd    s6, 72(s0)
    fence
    sd    zero, 80(s0)
    fence
    j     next_round

# Calls the measured function between the emulator's runner and it, to keep all of a result of 64 bits (a0, a1): the runner's second
# argument is where it goes, and behind it what a function of several outputs writes. Cycles are counted from bench_model's first instruction to bench_back, as the emulator counts them from a
# function to its own runner.
    .option norvc
    .text
    .globl bench_call
    .type  bench_call, @function
bench_call:
    addi  sp, sp, -16
    sw    ra, 12(sp)
    sw    s1, 8(sp)
    mv    s1, a1
    addi  a1, a1, 8
    jal   ra, bench_model
    .globl bench_back
bench_back:
    sw    a0, 0(s1)
    sw    a1, 4(s1)
    lw    s1, 8(sp)
    lw    ra, 12(sp)
    addi  sp, sp, 16
    ret
    .size bench_call, . - bench_call

# GCC turns zeroing into a call of memset, which libgcc does not bring: zeros by words where that is aligned, else by bytes.
    .section .text.memset, "ax"
    .globl memset
    .type  memset, @function
memset:
    add   a3, a0, a2
    mv    a4, a0
    or    a5, a0, a2
    andi  a5, a5, 3
    or    a5, a5, a1
    bnez  a5, 2f
    j     1f
3:  sw    zero, 0(a4)
    addi  a4, a4, 4
1:  bltu  a4, a3, 3b
    ret
4:  sb    a1, 0(a4)
    addi  a4, a4, 1
2:  bltu  a4, a3, 4b
    ret
    .size memset, . - memset

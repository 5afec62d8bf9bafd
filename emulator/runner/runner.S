# The program around the measured function: load its arguments, call it, hand its result to the test bench, again for ever.
# The two NOPs let the loads of the arguments leave a three-stage pipeline before the call, so that the function always starts
# in an idle core. RLCC_ENTRY is the function's symbol; RLCC_DATA the base of the data memory, whose first 64 bytes are ours
# (emulator/memory_map.py).
    .option norvc
    .section .vectors, "ax"
    .globl _vectors
_vectors:                           # exceptions arrive at the boot address: give mepc and mcause to the test bench
    lui   t2, %hi(RLCC_DATA)
    .insn i 0x73, 2, t0, x0, 0x342  # csrr t0, mcause (spelt so that every assembler takes it without Zicsr)
    .insn i 0x73, 2, t1, x0, 0x341  # csrr t1, mepc
    sw    t1, 40(t2)
    sw    t0, 36(t2)
1:  j     1b

    .org  0x80
    .globl _start
_start:                             # reset arrives at the boot address + 0x80
    lui   s0, %hi(RLCC_DATA)
    lui   sp, %hi(RLCC_STACK_TOP)
    addi  sp, sp, %lo(RLCC_STACK_TOP)
next_call:
    lw    a0, 0(s0)
    lw    a1, 4(s0)
    lw    a2, 8(s0)
    lw    a3, 12(s0)
    nop
    nop
    jal   ra, RLCC_ENTRY
    .globl rlcc_back
rlcc_back:
    lui   s0, %hi(RLCC_DATA)
    sw    a0, 32(s0)
    j     next_call

# Multiplication for a core without a multiplier, under the names by which compilers call it. No loop, no stack: so it keeps the
# rules of the code that calls it, and its time is bounded. Five instructions a bit of the multiplier, from its lowest; after
# each eight bits it ends if none is left. Linked only where the instruction set lacks M, and counted as the policy's code.

    .macro  bit_of_32 n             # a2 += bit n of a1 ? a0 << n : 0
    slli    t0, a1, 31 - \n
    srai    t0, t0, 31
    and     t0, t0, a0
    add     a2, a2, t0
    slli    a0, a0, 1
    .endm

    .macro  bit_of_64 n             # a5:a4 += bit n of a2 ? a1:a0 << n : 0
    slli    t0, a2, 31 - \n
    srai    t0, t0, 31
    and     t1, t0, a0
    add     a4, a4, t1
    sltu    t1, a4, t1
    and     t0, t0, a1
    add     t0, t0, t1
    add     a5, a5, t0
    srli    t1, a0, 31
    slli    a0, a0, 1
    slli    a1, a1, 1
    or      a1, a1, t1
    .endm

    .macro  eight of, n             # bits n to n + 7
    \of     \n
    \of     (\n + 1)
    \of     (\n + 2)
    \of     (\n + 3)
    \of     (\n + 4)
    \of     (\n + 5)
    \of     (\n + 6)
    \of     (\n + 7)
    .endm

    .macro  last_of register, n, to # ends when no bit from n on is set
    srli    t0, \register, \n
    beqz    t0, \to
    .endm

# uint32_t __mulsi3(uint32_t a, uint32_t b): the low 32 bits. The sign of b is set aside, so that a small negative is short.
    .section .text.__mulsi3, "ax"
    .globl  __mulsi3
    .type   __mulsi3, @function
__mulsi3:
    srai    t1, a1, 31
    xor     a1, a1, t1
    sub     a1, a1, t1
    li      a2, 0
    eight   bit_of_32, 0
    last_of a1, 8, 1f
    eight   bit_of_32, 8
    last_of a1, 16, 1f
    eight   bit_of_32, 16
    last_of a1, 24, 1f
    eight   bit_of_32, 24
1:  xor     a0, a2, t1
    sub     a0, a0, t1
    ret
    .size   __mulsi3, . - __mulsi3

# uint64_t __muldi3(uint64_t a, uint64_t b): the low 64 bits. First a times the low word of b; then, where b has a high word,
# the low word of a times that is added to the high word.
    .section .text.__muldi3, "ax"
    .globl  __muldi3
    .type   __muldi3, @function
__muldi3:
    mv      t2, a0
    li      a4, 0
    li      a5, 0
    eight   bit_of_64, 0
    last_of a2, 8, 1f
    eight   bit_of_64, 8
    last_of a2, 16, 1f
    eight   bit_of_64, 16
    last_of a2, 24, 1f
    eight   bit_of_64, 24
1:  beqz    a3, 3f
    mv      a0, t2
    srai    t1, a3, 31              # as in __mulsi3
    xor     a1, a3, t1
    sub     a1, a1, t1
    li      a2, 0
    eight   bit_of_32, 0
    last_of a1, 8, 2f
    eight   bit_of_32, 8
    last_of a1, 16, 2f
    eight   bit_of_32, 16
    last_of a1, 24, 2f
    eight   bit_of_32, 24
2:  xor     a2, a2, t1
    sub     a2, a2, t1
    add     a5, a5, a2
3:  mv      a0, a4
    mv      a1, a5
    ret
    .size   __muldi3, . - __muldi3

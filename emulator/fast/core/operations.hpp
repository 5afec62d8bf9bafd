// The instructions that the simulator knows, as lists that others are made of: RV32I without fences and system
// instructions, the products of M, Zba, Zbb and Zbs. Compressed instructions are their 32-bit equals. After the RISC-V
// unprivileged specification.
#pragma once

#include <bit>
#include <cstdint>

namespace rlcc {

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

// X(name, opcode | funct3 << 12 | funct7 << 25, value from a = rs1 and b = rs2)
#define RLCC_REGISTER_OPERATIONS(X)                                                                                    \
  X(add, 0x00000033, a + b)                                                                                            \
  X(sub, 0x40000033, a - b)                                                                                            \
  X(sll, 0x00001033, a << (b & 31))                                                                                    \
  X(slt, 0x00002033, u32(i32(a) < i32(b)))                                                                             \
  X(sltu, 0x00003033, u32(a < b))                                                                                      \
  X(xor_, 0x00004033, a ^ b)                                                                                           \
  X(srl, 0x00005033, a >> (b & 31))                                                                                    \
  X(sra, 0x40005033, u32(i32(a) >> (b & 31)))                                                                          \
  X(or_, 0x00006033, a | b)                                                                                            \
  X(and_, 0x00007033, a &b)                                                                                            \
  X(mul, 0x02000033, u32(a *b))                                                                                        \
  X(mulh, 0x02001033, u32(u64(i64(i32(a)) * i32(b)) >> 32))                                                            \
  X(mulhsu, 0x02002033, u32(u64(i64(i32(a)) * i64(u64(b))) >> 32))                                                     \
  X(mulhu, 0x02003033, u32(u64(a) * b >> 32))                                                                          \
  X(sh1add, 0x20002033, (a << 1) + b)                                                                                  \
  X(sh2add, 0x20004033, (a << 2) + b)                                                                                  \
  X(sh3add, 0x20006033, (a << 3) + b)                                                                                  \
  X(andn, 0x40007033, a & ~b)                                                                                          \
  X(orn, 0x40006033, a | ~b)                                                                                           \
  X(xnor, 0x40004033, ~(a ^ b))                                                                                        \
  X(min, 0x0A004033, i32(a) < i32(b) ? a : b)                                                                          \
  X(minu, 0x0A005033, a < b ? a : b)                                                                                   \
  X(max, 0x0A006033, i32(a) < i32(b) ? b : a)                                                                          \
  X(maxu, 0x0A007033, a < b ? b : a)                                                                                   \
  X(rol, 0x60001033, std::rotl(a, int(b & 31)))                                                                        \
  X(ror, 0x60005033, std::rotr(a, int(b & 31)))                                                                        \
  X(bset, 0x28001033, a | 1U << (b & 31))                                                                              \
  X(bclr, 0x48001033, a & ~(1U << (b & 31)))                                                                           \
  X(binv, 0x68001033, a ^ 1U << (b & 31))                                                                              \
  X(bext, 0x48005033, a >> (b & 31) & 1)

// X(name, opcode | funct3 << 12, value from a = rs1 and i = the sign-extended immediate)
#define RLCC_IMMEDIATE_OPERATIONS(X)                                                                                   \
  X(addi, 0x0013, a + i)                                                                                               \
  X(slti, 0x2013, u32(i32(a) < i32(i)))                                                                                \
  X(sltiu, 0x3013, u32(a < i))                                                                                         \
  X(xori, 0x4013, a ^ i)                                                                                               \
  X(ori, 0x6013, a | i)                                                                                                \
  X(andi, 0x7013, a &i)

// X(name, opcode | funct3 << 12 | funct7 << 25, value from a = rs1 and i = the shift amount)
#define RLCC_SHIFT_OPERATIONS(X)                                                                                       \
  X(slli, 0x00001013, a << i)                                                                                          \
  X(srli, 0x00005013, a >> i)                                                                                          \
  X(srai, 0x40005013, u32(i32(a) >> i))                                                                                \
  X(rori, 0x60005013, std::rotr(a, int(i)))                                                                            \
  X(bseti, 0x28001013, a | 1U << i)                                                                                    \
  X(bclri, 0x48001013, a & ~(1U << i))                                                                                 \
  X(binvi, 0x68001013, a ^ 1U << i)                                                                                    \
  X(bexti, 0x48005013, a >> i & 1)

// X(name, all but rd and rs1, value from a = rs1)
#define RLCC_UNARY_OPERATIONS(X)                                                                                       \
  X(clz, 0x60001013, u32(std::countl_zero(a)))                                                                         \
  X(ctz, 0x60101013, u32(std::countr_zero(a)))                                                                         \
  X(cpop, 0x60201013, u32(std::popcount(a)))                                                                           \
  X(sext_b, 0x60401013, u32(i32(std::int8_t(a))))                                                                      \
  X(sext_h, 0x60501013, u32(i32(std::int16_t(a))))                                                                     \
  X(zext_h, 0x08004033, a & 0xFFFF)                                                                                    \
  X(orc_b, 0x28705013, or_bytes(a))                                                                                    \
  X(rev8, 0x69805013, __builtin_bswap32(a))

// X(name, opcode | funct3 << 12, type in memory)
#define RLCC_LOADS(X)                                                                                                  \
  X(lb, 0x0003, std::int8_t)                                                                                           \
  X(lh, 0x1003, std::int16_t)                                                                                          \
  X(lw, 0x2003, std::int32_t)                                                                                          \
  X(lbu, 0x4003, std::uint8_t)                                                                                         \
  X(lhu, 0x5003, std::uint16_t)

#define RLCC_STORES(X)                                                                                                 \
  X(sb, 0x0023, std::uint8_t)                                                                                          \
  X(sh, 0x1023, std::uint16_t)                                                                                         \
  X(sw, 0x2023, std::uint32_t)

// X(name, opcode | funct3 << 12, taken)
#define RLCC_BRANCHES(X)                                                                                               \
  X(beq, 0x0063, a == b)                                                                                               \
  X(bne, 0x1063, a != b)                                                                                               \
  X(blt, 0x4063, i32(a) < i32(b))                                                                                      \
  X(bge, 0x5063, i32(a) >= i32(b))                                                                                     \
  X(bltu, 0x6063, a < b)                                                                                               \
  X(bgeu, 0x7063, a >= b)

// Every byte that is not zero becomes all ones.
constexpr u32 or_bytes(u32 a) {
  u32 value = 0;
  for (int shift = 0; shift < 32; shift += 8)
    value |= (a >> shift & 0xFF) != 0 ? 0xFFU << shift : 0U;
  return value;
}

} // namespace rlcc

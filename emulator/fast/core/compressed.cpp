#include "compressed.hpp"

namespace rlcc {

namespace {

// Bits high..low of the half word, moved to where the immediate has them.
constexpr u32 field(u32 half, int high, int low, int to) {
  return (half >> low & ((1U << (high - low + 1)) - 1)) << to;
}

constexpr u32 sign(u32 value, int bits) { return u32(i32(value << (32 - bits)) >> (32 - bits)); }

constexpr u32 r_type(u32 opcode, u32 rd, u32 rs1, u32 rs2) { return opcode | rd << 7 | rs1 << 15 | rs2 << 20; }
constexpr u32 i_type(u32 opcode, u32 rd, u32 rs1, u32 imm) { return opcode | rd << 7 | rs1 << 15 | imm << 20; }
constexpr u32 s_type(u32 opcode, u32 rs1, u32 rs2, u32 imm) {
  return opcode | (imm & 31) << 7 | rs1 << 15 | rs2 << 20 | (imm >> 5 & 0x7F) << 25;
}
constexpr u32 b_type(u32 opcode, u32 rs1, u32 imm) {
  return opcode | rs1 << 15 | (imm >> 11 & 1) << 7 | (imm >> 1 & 0xF) << 8 | (imm >> 5 & 0x3F) << 25 |
         (imm >> 12 & 1) << 31;
}
constexpr u32 j_type(u32 rd, u32 imm) {
  return 0x6F | rd << 7 | (imm >> 12 & 0xFF) << 12 | (imm >> 11 & 1) << 20 | (imm >> 1 & 0x3FF) << 21 |
         (imm >> 20 & 1) << 31;
}

constexpr u32 kAddi = 0x13, kSlli = 0x1013, kSrli = 0x5013, kSrai = 0x40005013, kAndi = 0x7013, kAdd = 0x33,
              kLui = 0x37;
constexpr u32 kLw = 0x2003, kSw = 0x2023, kJalr = 0x67, kBeq = 0x63, kBne = 0x1063, kEbreak = 0x00100073;

u32 quadrant_0(u32 h, u32 rd, u32 rs1) {
  const u32 word = field(h, 12, 10, 3) | field(h, 6, 6, 2) | field(h, 5, 5, 6);
  const u32 frame = field(h, 12, 11, 4) | field(h, 10, 7, 6) | field(h, 6, 6, 2) | field(h, 5, 5, 3);
  switch (h >> 13) {
  case 0:
    return frame != 0 ? i_type(kAddi, rd, 2, frame) : 0;
  case 2:
    return i_type(kLw, rd, rs1, word);
  case 6:
    return s_type(kSw, rs1, rd, word);
  default:
    return 0;
  }
}

u32 arithmetic(u32 h, u32 rd, u32 rs2) {
  constexpr u32 kOperations[] = {0x40000033, 0x4033, 0x6033, 0x7033}; // sub, xor, or, and
  const u32 imm = field(h, 12, 12, 5) | field(h, 6, 2, 0);
  switch (h >> 10 & 3) {
  case 0:
    return imm < 32 ? i_type(kSrli, rd, rd, imm) : 0;
  case 1:
    return imm < 32 ? i_type(kSrai, rd, rd, imm) : 0;
  case 2:
    return i_type(kAndi, rd, rd, sign(imm, 6));
  default:
    return (h >> 12 & 1) == 0 ? r_type(kOperations[h >> 5 & 3], rd, rd, rs2) : 0;
  }
}

u32 quadrant_1(u32 h) {
  const u32 rd = h >> 7 & 31, narrow = 8 + (h >> 7 & 7);
  const u32 imm = sign(field(h, 12, 12, 5) | field(h, 6, 2, 0), 6);
  const u32 jump = sign(field(h, 12, 12, 11) | field(h, 11, 11, 4) | field(h, 10, 9, 8) | field(h, 8, 8, 10) |
                            field(h, 7, 7, 6) | field(h, 6, 6, 7) | field(h, 5, 3, 1) | field(h, 2, 2, 5),
                        12);
  const u32 branch =
      sign(field(h, 12, 12, 8) | field(h, 11, 10, 3) | field(h, 6, 5, 6) | field(h, 4, 3, 1) | field(h, 2, 2, 5), 9);
  const u32 frame =
      sign(field(h, 12, 12, 9) | field(h, 6, 6, 4) | field(h, 5, 5, 6) | field(h, 4, 3, 7) | field(h, 2, 2, 5), 10);
  switch (h >> 13) {
  case 0:
    return i_type(kAddi, rd, rd, imm);
  case 1:
    return j_type(1, jump);
  case 2:
    return i_type(kAddi, rd, 0, imm);
  case 3:
    if (imm == 0)
      return 0;
    return rd == 2 ? i_type(kAddi, 2, 2, frame) : kLui | rd << 7 | imm << 12;
  case 4:
    return arithmetic(h, narrow, 8 + (h >> 2 & 7));
  case 5:
    return j_type(0, jump);
  default:
    return b_type(h >> 13 == 6 ? kBeq : kBne, narrow, branch);
  }
}

u32 quadrant_2(u32 h) {
  const u32 rd = h >> 7 & 31, rs2 = h >> 2 & 31, imm = field(h, 12, 12, 5) | field(h, 6, 2, 0);
  const bool high = (h >> 12 & 1) != 0;
  switch (h >> 13) {
  case 0:
    return imm < 32 ? i_type(kSlli, rd, rd, imm) : 0;
  case 2:
    return rd != 0 ? i_type(kLw, rd, 2, field(h, 12, 12, 5) | field(h, 6, 4, 2) | field(h, 3, 2, 6)) : 0;
  case 4:
    if (rs2 != 0)
      return r_type(kAdd, rd, high ? rd : 0, rs2);
    if (rd != 0)
      return i_type(kJalr, high ? 1 : 0, rd, 0);
    return high ? kEbreak : 0;
  case 6:
    return s_type(kSw, 2, rs2, field(h, 12, 9, 2) | field(h, 8, 7, 6));
  default:
    return 0;
  }
}

} // namespace

u32 expanded(u32 half) {
  switch (half & 3) {
  case 0:
    return quadrant_0(half, 8 + (half >> 2 & 7), 8 + (half >> 7 & 7));
  case 1:
    return quadrant_1(half);
  default:
    return quadrant_2(half);
  }
}

} // namespace rlcc

// Machine words to instructions.
#include "compressed.hpp"
#include "instruction.hpp"

#include <array>

namespace rlcc {

namespace {

enum class Form : std::uint8_t { r, i, shift, unary, s, b, u, j };

struct Encoding {
  Op op = Op::illegal;
  Form form = Form::r;
  u32 mask = 0, value = 0;
};

constexpr u32 kOpcode = 0x0000007F, kFunct3 = 0x0000707F, kFunct7 = 0xFE00707F, kUnary = 0xFFF0707F;

constexpr Encoding kEncodings[] = {
#define RLCC_R(name, value, meaning) {Op::name, Form::r, kFunct7, value},
#define RLCC_I(name, value, meaning) {Op::name, Form::i, kFunct3, value},
#define RLCC_SHIFT(name, value, meaning) {Op::name, Form::shift, kFunct7, value},
#define RLCC_UNARY(name, value, meaning) {Op::name, Form::unary, kUnary, value},
#define RLCC_S(name, value, type) {Op::name, Form::s, kFunct3, value},
#define RLCC_B(name, value, taken) {Op::name, Form::b, kFunct3, value},
    RLCC_UNARY_OPERATIONS(RLCC_UNARY) RLCC_REGISTER_OPERATIONS(RLCC_R) RLCC_IMMEDIATE_OPERATIONS(RLCC_I)
        RLCC_SHIFT_OPERATIONS(RLCC_SHIFT) RLCC_LOADS(RLCC_I) RLCC_STORES(RLCC_S) RLCC_BRANCHES(RLCC_B)
#undef RLCC_R
#undef RLCC_I
#undef RLCC_SHIFT
#undef RLCC_UNARY
#undef RLCC_S
#undef RLCC_B
            {Op::lui, Form::u, kOpcode, 0x37},
    {Op::auipc, Form::u, kOpcode, 0x17},
    {Op::jal, Form::j, kOpcode, 0x6F},
    {Op::jalr, Form::i, kFunct3, 0x67},
    {Op::ecall, Form::i, ~0U, 0x00000073},
    {Op::ebreak, Form::i, ~0U, 0x00100073},
};

constexpr i32 sign_extended(u32 value, int bits) { return i32(value << (32 - bits)) >> (32 - bits); }

i32 immediate(u32 w, Form form) {
  switch (form) {
  case Form::i:
    return i32(w) >> 20;
  case Form::shift:
    return i32(w >> 20 & 31);
  case Form::s:
    return sign_extended((w >> 25) << 5 | (w >> 7 & 31), 12);
  case Form::b:
    return sign_extended((w >> 31) << 12 | (w >> 7 & 1) << 11 | (w >> 25 & 0x3F) << 5 | (w >> 8 & 0xF) << 1, 13);
  case Form::u:
    return i32(w & 0xFFFFF000);
  case Form::j:
    return sign_extended((w >> 31) << 20 | (w >> 12 & 0xFF) << 12 | (w >> 20 & 1) << 11 | (w >> 21 & 0x3FF) << 1, 21);
  default:
    return 0;
  }
}

bool is_product(Op op) { return op >= Op::mul && op <= Op::mulhu; }

bool is_bits(Op op) {
  return (op >= Op::sh1add && op <= Op::bext) || (op >= Op::rori && op <= Op::bexti) ||
         (op >= Op::clz && op <= Op::rev8);
}

// What Ibex executes and we do not: divisions, fences, CSR accesses and returns from traps, bits of the draft
// extensions.
bool in_the_core_alone(u32 w, Extensions extensions) {
  const u32 opcode = w & kOpcode;
  const bool division = opcode == 0x33 && w >> 25 == 1;
  const bool draft = extensions.bits && (opcode == 0x33 || opcode == 0x13);
  return (division && extensions.products) || draft || opcode == 0x0F || opcode == 0x73;
}

} // namespace

Instruction decode(u32 bits, Extensions extensions) {
  const bool compressed = (bits & 3) != 3;
  const u32 w = compressed ? expanded(bits & 0xFFFF) : bits;
  Instruction result;
  result.length = compressed ? 2 : 4;
  for (const Encoding &e : kEncodings) {
    if ((w & e.mask) != e.value)
      continue;
    if ((is_product(e.op) && !extensions.products) || (is_bits(e.op) && !extensions.bits))
      break;
    result.op = e.op;
    result.rd = e.form == Form::s || e.form == Form::b ? 0 : w >> 7 & 31;
    result.rs1 = e.form == Form::u || e.form == Form::j ? 0 : w >> 15 & 31;
    result.rs2 = e.form == Form::r || e.form == Form::s || e.form == Form::b ? w >> 20 & 31 : 0;
    result.imm = immediate(w, e.form);
    return result;
  }
  result.op = in_the_core_alone(w, extensions) ? Op::unknown : Op::illegal;
  return result;
}

} // namespace rlcc

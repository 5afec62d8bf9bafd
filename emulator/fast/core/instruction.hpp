// A decoded instruction.
#pragma once

#include <cstdint>
#include <string_view>

#include "operations.hpp"

namespace rlcc {

enum class Op : std::uint8_t {
#define RLCC_NAME(name, ...) name,
  RLCC_REGISTER_OPERATIONS(RLCC_NAME) RLCC_IMMEDIATE_OPERATIONS(RLCC_NAME) RLCC_SHIFT_OPERATIONS(RLCC_NAME)
      RLCC_UNARY_OPERATIONS(RLCC_NAME) RLCC_LOADS(RLCC_NAME) RLCC_STORES(RLCC_NAME) RLCC_BRANCHES(RLCC_NAME)
#undef RLCC_NAME
          lui,
  auipc,
  jal,
  jalr,
  ecall,
  ebreak,
  illegal,
  unknown, // an instruction that the core has and the simulator does not: division, CSRs, fences, the rest of Zbb
};

struct Instruction {
  Op op = Op::illegal;
  std::uint8_t rd = 0, rs1 = 0, rs2 = 0; // 0 where the format has none
  std::uint8_t length = 4;               // bytes
  i32 imm = 0;                           // sign-extended, in bytes; shifted for lui and auipc
};

// What the core's instruction set leaves out is illegal there.
struct Extensions {
  bool products = false; // M
  bool bits = false;     // Zba, Zbb, Zbs
};

// The instruction at the start of `bits`: of 16 bits if their lowest two are not both set. Ibex takes compressed
// instructions whatever else it has.
Instruction decode(u32 bits, Extensions extensions);

constexpr bool is_load(Op op) { return op >= Op::lb && op <= Op::lhu; }
constexpr bool is_store(Op op) { return op >= Op::sb && op <= Op::sw; }
constexpr bool is_branch(Op op) { return op >= Op::beq && op <= Op::bgeu; }
constexpr bool is_jump(Op op) { return op == Op::jal || op == Op::jalr; }

} // namespace rlcc

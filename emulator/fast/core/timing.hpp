// Cycles of an instruction on Ibex: for how long it stands in ID/EX, with the bubbles behind it. The memories answer an
// instruction fetch after one cycle; the figures come from emulator/fast/timing.py, which says what each means.
#pragma once

#include <algorithm>

#include "instruction.hpp"

namespace rlcc {

struct Timing {
  u32 branch_taken = 0;    // cycles of a taken branch
  u32 jump = 0;            // of jal and jalr
  u32 product = 0;         // of mul
  u32 high_product = 0;    // of mulh, mulhsu, mulhu
  u32 rotation = 0;        // of rol, ror, rori
  u32 access = 0;          // of a load or store, with its waits where these hold it in ID/EX
  i32 table_load = 0;      // more, where a load of two stages reads a constant
  u32 data_wait = 0;       // by which an access holds back what follows; 0 where it waits in ID/EX itself
  u32 load_use = 0;        // more, where what follows needs the loaded value
  u32 split_target = 0;    // more for a jump to an instruction of 32 bits that two words hold
  bool early_jump = false; // a jump that is held back already fetches its target
};

// What makes an instruction cost more than it does alone: the instruction executed just before it, and where it goes.
struct Around {
  const Instruction *before = nullptr; // nullptr: the first
  bool taken = false;                  // it leaves the sequence
  bool split = false;                  // to an instruction of 32 bits that two words hold
};

constexpr u32 alone(const Timing &t, const Instruction &i, bool taken) {
  if (is_load(i.op) || is_store(i.op))
    return t.access;
  if (is_branch(i.op))
    return taken ? t.branch_taken : 1;
  if (is_jump(i.op))
    return t.jump;
  if (i.op == Op::mul)
    return t.product;
  if (i.op == Op::mulh || i.op == Op::mulhsu || i.op == Op::mulhu)
    return t.high_product;
  return i.op == Op::rol || i.op == Op::ror || i.op == Op::rori ? t.rotation : 1;
}

constexpr u32 cycles(const Timing &t, const Instruction &i, const Around &around) {
  const u32 own = alone(t, i, around.taken) + (around.split ? t.split_target : 0);
  const Instruction *before = around.before;
  if (before == nullptr || !(is_load(before->op) || is_store(before->op)))
    return own;
  const bool needed = is_load(before->op) && before->rd != 0 && (before->rd == i.rs1 || before->rd == i.rs2);
  if (needed)
    return own + t.data_wait + t.load_use;
  return around.taken && t.early_jump ? std::max(own, 1 + t.data_wait) : own + t.data_wait;
}

} // namespace rlcc

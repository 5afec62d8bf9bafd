// A linked program made ready to run: one slot an instruction, with the cycles worked out beforehand.
//
// Straight code costs nothing to count. With P(s) = what all slots before s cost in sequence, the cost of a call so far
// is `spent` + P(s) at any slot s, where `spent` changes only when the sequence is left: a jump from s to t adds
// P(s) + its own cost - P(t). An instruction whose cycles depend on the one before it stands in P as behind its
// neighbour; a jump to it corrects that. Where the correction depends on whether it is itself taken (a branch behind an
// access), jumps go to a copy of it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "instruction.hpp"
#include "memory.hpp"
#include "timing.hpp"

namespace rlcc {

// Cycles in the low half, instructions in the high half: both add and subtract at once.
using Cost = i64;
constexpr Cost cost_of(u32 cycles) { return Cost{cycles} + (Cost{1} << 32); }
constexpr u32 cycles_in(Cost cost) { return u32(u64(cost)); }
constexpr u32 instructions_in(Cost cost) { return u32(u64(cost) >> 32); }

enum class Action : std::uint8_t { // what a slot does: an operation of the lists, or
#define RLCC_NAME(name, ...) name,
  RLCC_REGISTER_OPERATIONS(RLCC_NAME) RLCC_IMMEDIATE_OPERATIONS(RLCC_NAME) RLCC_SHIFT_OPERATIONS(RLCC_NAME)
      RLCC_UNARY_OPERATIONS(RLCC_NAME) RLCC_LOADS(RLCC_NAME) RLCC_STORES(RLCC_NAME) RLCC_BRANCHES(RLCC_NAME)
#undef RLCC_NAME
          constant, // rd = imm
  jump,             // to the slot `target`, adding `cost`
  jump_and_link,    // the same, rd = imm
  jump_register,    // to the address rs1 + imm, rd = the address behind, adding `cost`, and `target` where it is split
  guard,            // before a jump back: `cost` is P, looks at the cycle limit, goes to `target`
  trap,             // an exception: its cause is in imm
  leave,            // outside the code, at the address imm; `cost` is P
};

constexpr int kActions = int(Action::leave) + 1;

struct Slot {
  const void *handler = nullptr; // the interpreter's
  Cost cost = 0;
  i32 imm = 0;
  i32 target = 0;
  std::uint8_t rd = 0, rs1 = 0, rs2 = 0; // rd is kNowhere for x0
  Action action = Action::trap;
  std::uint8_t length = 0; // of the instruction, bytes
};

std::string hexadecimal(u32 value);
u32 cause_of(Op op); // mcause of an instruction that traps

constexpr std::uint8_t kNowhere = 32;

struct Entry {   // where a jump to an address goes
  i32 slot = -1; // -1: no instruction starts there
  bool split = false;
  Cost cost = 0; // the correction - P(slot)
};

// What is loaded, where it may touch what, and how it is called.
struct Image {
  u32 text = 0; // address of the code
  std::vector<std::uint8_t> code;
  u32 entry = 0, back = 0; // the function, and the address that it returns to
  Layout layout;
  std::vector<std::pair<u32, std::string>> symbols; // by address, then name
  Extensions extensions;
};

class Program {
public:
  // Throws std::invalid_argument where the code has an instruction that the core has and we have not.
  Program(Image image, const Timing &timing, u32 cycle_limit);

  const Image &image() const { return image_; }
  u32 cycle_limit() const { return cycle_limit_; }
  i32 table_load() const { return table_load_; } // more cycles of a load from the constants
  const Slot *slots() const { return slots_.data(); }
  const Entry &start() const { return start_; }

  // Where an address leads; an entry of no slot where it is none of the code's instructions.
  const Entry &entry(u32 address) const {
    const u32 offset = address - image_.text;
    return offset < entries_.size() * 2 && offset % 2 == 0 ? entries_[offset / 2] : nowhere_;
  }
  bool inside(u32 address) const { return address - image_.text < image_.code.size(); }
  u32 address(const Slot *slot) const { return addresses_[std::size_t(slot - slots_.data())]; }
  std::string where(u32 address) const; // symbol+offset

private:
  struct Placed {
    u32 address = 0;
    Instruction instruction;
    Cost position = 0; // P
  };

  void decode_code(const Timing &timing);
  i32 add(const Slot &slot, u32 address);
  void make_entry(const Timing &timing, std::size_t n);
  void aim(const Timing &timing, std::size_t slot, const Placed &from, const Instruction *before);
  Entry resolve(u32 address);
  i32 guarded(const Entry &entry, u32 address);

  struct Copy {
    std::size_t slot = 0, original = 0;
  };

  Image image_;
  u32 cycle_limit_;
  i32 table_load_;
  std::vector<Placed> code_; // and its end
  std::vector<Copy> copies_;
  std::vector<Slot> slots_;
  std::vector<u32> addresses_; // of each slot
  std::vector<Entry> entries_; // of each half word of the code
  Entry nowhere_, start_;
};

} // namespace rlcc

// Calls a program's function: registers, a data memory of its own, and the bounds that the core's test bench holds too.
#pragma once

#include <string>
#include <vector>

#include "program.hpp"

namespace rlcc {

struct Fault {
  enum Kind : std::uint8_t { none, trap, timeout, store_const, store, load, misaligned, execute, middle };
  Kind kind = none;
  u32 at = 0;      // of the instruction
  u32 address = 0; // that it accessed or jumped to
  u32 cause = 0;   // mcause
};

struct Outcome {
  Cost cost = 0;
  u32 returned = 0;
  u32 stack_low = 0; // lowest address of the stack that was written
  Fault fault;
};

// The interpreter's code for an action.
const void *handler(Action action);

// As a sentence, like those of the core's test bench.
std::string sentence(const Fault &fault, const Program &program);

// One engine: used by one thread at a time. A call's result depends on the blocks' bytes alone.
class Interpreter {
public:
  explicit Interpreter(const Program &program);

  std::uint8_t *block(std::size_t n) {
    return bytes_.data() + (blocks()[n].region.low - program_.image().layout.data.low);
  }
  const std::vector<Block> &blocks() const { return program_.image().layout.blocks; }
  const Program &program() const { return program_; }
  Outcome call();

private:
  friend const void *handler(Action);
  static const void *const *run(Interpreter *self, Outcome *outcome);
  Fault refused(const Slot *slot, u32 address) const;

  const Program &program_;
  std::vector<std::uint8_t> bytes_;
  u32 first_[kNowhere + 1] = {}; // registers at the call
};

} // namespace rlcc

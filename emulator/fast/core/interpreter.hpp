// Calls a program's function: registers, a data memory of its own, and the bounds that the core's test bench holds too.
#pragma once

#include <vector>

#include "fault.hpp"
#include "program.hpp"

namespace rlcc {

struct Outcome {
  Cost cost = 0;
  u32 returned = 0;
  u32 stack_low = 0; // lowest address of the stack that was written
  Fault fault;
};

// The interpreter's code for an action.
const void *handler(Action action);

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

  const Program &program_;
  std::vector<std::uint8_t> bytes_;
  u32 first_[kNowhere + 1] = {}; // registers at the call
};

} // namespace rlcc

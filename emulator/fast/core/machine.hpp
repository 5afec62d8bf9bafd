// A whole engine, instruction by instruction and cycle by cycle: the runner and the function it calls, with memories
// that wait or are cached. Slower than Interpreter, which knows no such memories, and as exact.
#pragma once

#include "interpreter.hpp"
#include "pipeline.hpp"

namespace rlcc {

enum class State : std::uint8_t { hot, cold, other_flow }; // of the caches at the entry of the function

struct Settings {
  Timing timing;
  bool writeback = false, branch_target_alu = false;       // of Ibex
  u32 instruction_wait = 0, data_wait = 0, table_wait = 0; // table_wait: of the constants
  CacheShape instruction_cache, data_cache;
  State state = State::hot;
  std::vector<std::uint8_t> runner; // the code around the function, at address 0
  u32 arguments = 0, mailbox = 0;   // where it finds the function's and stores its result
};

class Machine {
public:
  Machine(const Program &program, const Settings &settings);

  std::uint8_t *block(std::size_t n) { return bytes_.data() + (blocks()[n].region.low - layout().data.low); }
  const std::vector<Block> &blocks() const { return layout().blocks; }
  const Program &program() const { return program_; }
  State state() const { return settings_.state; }
  void restart();         // as after power-on: reset, caches empty, the data memory as loaded
  void forget_writable(); // another flow's context comes
  Outcome call();

private:
  enum class Phase : std::uint8_t { before, inside, after };

  struct Step { // what an instruction did
    u32 next = 0;
    u32 address = 0; // of an access
    bool taken = false;
    Fault fault;
  };

  const Layout &layout() const { return program_.image().layout; }
  void reset();
  const Instruction &at(u32 address) const;
  Step execute(const Instruction &i, u32 pc);
  void time(const Instruction &i, const Step &step);
  u32 fetched(u32 address);
  u32 data_wait(const Instruction &i, u32 address);

  const Program &program_;
  Settings settings_;
  std::vector<Instruction> code_; // of each half word up to the end of the text
  std::vector<std::uint8_t> bytes_;
  Cache instruction_cache_, data_cache_;
  Prefetch prefetch_;
  u32 x_[32] = {};
  u32 pc_ = 0;
  u64 now_ = 0;    // the cycle in which the instruction at pc_ comes to ID/EX
  u64 answer_ = 0; // of the access in the write-back stage
  u32 loaded_ = 0; // its register
  Phase phase_ = Phase::before;
  bool done_ = false;
  u32 stack_low_ = 0;
};

} // namespace rlcc

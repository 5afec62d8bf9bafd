// What a program may not do.
#pragma once

#include <string>

#include "program.hpp"

namespace rlcc {

struct Fault {
  enum Kind : std::uint8_t { none, trap, timeout, store_const, store, load, misaligned, execute, middle };
  Kind kind = none;
  u32 at = 0;      // of the instruction
  u32 address = 0; // that it accessed or jumped to
  u32 cause = 0;   // mcause
};

// Why an access by the instruction at `at` is refused, as the core's test bench tells it: out of bounds first.
Fault refusal(const Program &program, Op op, u32 at, u32 address);

// As a sentence, like those of the core's test bench.
std::string sentence(const Fault &fault, const Program &program);

} // namespace rlcc

// Many calls, spread over threads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "program.hpp"

namespace rlcc {

// One array a block, a record a call, without gaps; writable blocks are changed in place.
struct Records {
  std::vector<std::uint8_t *> blocks;
  std::size_t count = 0;
};

struct Results { // arrays of Records::count
  u64 *cycles = nullptr;
  u32 *returned = nullptr;
};

struct Summary {
  std::size_t done = 0; // calls that returned before the first that did not
  u32 stack_low = 0;
  u64 instructions = 0;
  std::string fault; // of call `done`; empty where there is none
};

Summary run(const Program &program, const Records &records, const Results &results, unsigned threads);

} // namespace rlcc

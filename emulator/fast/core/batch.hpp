// Many calls, spread over threads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "machine.hpp"

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

// The same on machines, on which a call leaves something behind in the caches. Each portion of so many records begins
// with a restart and, unless caches are cold anyway, with an uncounted call of its first record.
Summary run(const Program &program, const Settings &settings, std::size_t portion, const Records &records,
            const Results &results, unsigned threads);

} // namespace rlcc

// What one call did, as every engine reports it; emulator/rtl_run.py reads these fields in this order.
#pragma once

#include <cstdint>

struct Called {
  uint64_t cycles = 0;
  uint32_t result = 0;
  uint32_t stack_low = 0;          // the lowest stack address written
  uint32_t between = 0;            // cycles from the return of the call before to the entry of this one: the runner's
  uint32_t instruction_misses = 0; // in the profile's caches, while the function ran
  uint32_t data_misses = 0;
  uint32_t entering = 0; // cycles from the call to the entry: longer where the function's first fetch misses
};

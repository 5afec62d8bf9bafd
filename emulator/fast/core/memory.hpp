// The data memory: its bytes, and for each address what the program may do there.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "operations.hpp"

namespace rlcc {

struct Region {
  u32 low = 0;
  u32 high = 0; // one past the end
  u32 size() const { return high - low; }
};

struct Block { // an argument structure
  Region region;
  bool writable = false;
};

// Bits of an address: an aligned access of 1, 2 or 4 bytes that starts there stays in one region that allows it.
// The size stands as the shift of its bit.
enum Permission : std::uint8_t { may_load = 1, may_store = 8, in_stack = 64, in_tables = 128 };

struct Layout {
  Region data;
  Region constants;
  Region stack;
  std::vector<Block> blocks;
  std::vector<std::uint8_t> bytes;       // of the data memory before a call
  std::vector<std::uint8_t> permissions; // as many

  void allow(const Region &region, unsigned bits) {
    for (u32 shift = 0; shift < 3; ++shift)
      for (u64 at = region.low; at + (1U << shift) <= region.high; ++at)
        if (at % (1U << shift) == 0)
          permissions[at - data.low] |= std::uint8_t((bits & (may_load | may_store)) << shift);
    for (u64 at = region.low; at < region.high; ++at)
      permissions[at - data.low] |= std::uint8_t(bits & (in_stack | in_tables));
  }
};

} // namespace rlcc

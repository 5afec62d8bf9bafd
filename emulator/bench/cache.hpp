// The tags of an L1 or instruction buffer: which lines it holds, and so how long an access waits. The bytes are in
// Memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

struct CacheShape {
  uint32_t bytes = 0; // 0: no cache
  uint32_t line_bytes = 0, ways = 0, miss_cycles = 0;
};

class Cache {
public:
  explicit Cache(const CacheShape &shape)
      : shape_(shape), sets_(shape.bytes ? shape.bytes / (shape.line_bytes * shape.ways) : 0),
        lines_(size_t(sets_) * shape.ways, nothing) {}

  explicit operator bool() const { return sets_ != 0; }
  uint64_t misses() const { return misses_; }

  // Wait cycles of a read. A missing line comes in and the least recently used of its set goes.
  uint32_t read(uint32_t address) {
    const uint32_t line = address / shape_.line_bytes;
    const auto set = lines_.begin() + ptrdiff_t(line % sets_) * shape_.ways; // the most recently used first
    const auto end = set + shape_.ways;
    const auto found = std::find(set, end, line);
    const bool hit = found != end;
    std::rotate(set, hit ? found : end - 1, hit ? found + 1 : end);
    *set = line;
    misses_ += !hit;
    return hit ? 0 : shape_.miss_cycles;
  }

  void clear() { std::fill(lines_.begin(), lines_.end(), nothing); }

  void forget(uint32_t low, uint32_t high) {
    for (uint64_t &line : lines_)
      if (line != nothing && (line + 1) * shape_.line_bytes > low && line * shape_.line_bytes < high)
        line = nothing;
  }

private:
  static constexpr uint64_t nothing = ~uint64_t{0};
  CacheShape shape_;
  uint32_t sets_;
  std::vector<uint64_t> lines_; // of each set, one after another
  uint64_t misses_ = 0;
};

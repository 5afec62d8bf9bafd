// Ibex' instruction fetch beside its ID/EX stage, cycle by cycle, for memories that do not answer at once.
//
// What an instruction costs then depends on how far the prefetch buffer had come when the instructions before it were
// done, so there is no table to look it up in. The rules are those of the core's RTL (ibex_prefetch_buffer,
// ibex_fetch_fifo, ibex_id_stage) and of the test bench's memory port.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "operations.hpp"

namespace rlcc {

// The tags of a cache, the least recently used of a set first to go; with 0 bytes there is none. The bytes of a line
// and the sets are powers of two.
struct CacheShape {
  u32 bytes = 0, line_bytes = 0, ways = 0, miss_cycles = 0;
};

class Cache {
public:
  explicit Cache(const CacheShape &shape)
      : shape_(shape), sets_(shape.bytes == 0 ? 0 : shape.bytes / (shape.line_bytes * shape.ways)),
        line_bits_(std::countr_zero(shape.line_bytes)), lines_(std::size_t{sets_} * shape.ways, kNothing) {}

  explicit operator bool() const { return sets_ != 0; }

  // Cycles that a read waits; the line is in the cache afterwards.
  u32 read(u32 address) {
    const u32 line = address >> line_bits_;
    const auto first =
        lines_.begin() + std::ptrdiff_t(std::size_t{line & (sets_ - 1)} * shape_.ways); // most recently used
    if (*first == line)
      return 0;
    const auto end = first + shape_.ways;
    const auto found = std::find(first, end, line);
    const bool hit = found != end;
    std::move_backward(first, hit ? found : end - 1, hit ? found + 1 : end);
    *first = line;
    return hit ? 0 : shape_.miss_cycles;
  }

  void clear() { std::fill(lines_.begin(), lines_.end(), kNothing); }

  void forget(u32 low, u32 high) {
    for (u64 &line : lines_)
      if (line != kNothing && (line + 1) * shape_.line_bytes > low && line * shape_.line_bytes < high)
        line = kNothing;
  }

private:
  static constexpr u64 kNothing = ~u64{0};
  CacheShape shape_;
  u32 sets_;
  int line_bits_;
  std::vector<u64> lines_;
};

// One access at a time: granted when nothing is under way or an answer comes in the same cycle.
class Port {
public:
  bool answers() const { return pending_ && remaining_ == 0; }
  bool free() const { return !pending_ || remaining_ == 0; }
  void grant(u32 wait) {
    pending_ = true;
    remaining_ = wait;
  }
  void pass() { // a cycle in which nothing was granted
    if (answers())
      pending_ = false;
    else if (pending_)
      --remaining_;
  }
  u32 idle() const { return pending_ ? remaining_ : 0; } // cycles in which it certainly does nothing
  void skip(u32 cycles) { remaining_ -= cycles; }

private:
  bool pending_ = false;
  u32 remaining_ = 0;
};

// The next instruction that ID/EX wants.
struct Wanted {
  u32 address = 0;
  u32 length = 4;
  bool split() const { return length == 4 && address % 4 != 0; }
  bool frees_a_word() const { return length == 4 || address % 4 != 0; }
};

// The prefetch buffer. `fetched(address)` is called for each granted fetch and says how many cycles it waits.
class Prefetch {
public:
  // One cycle. `branch`: the core jumps to `wanted` in this cycle. True where `wanted` goes to ID/EX, which takes it
  // where `ready`.
  template <typename Fetched> bool cycle(bool branch, bool ready, const Wanted &wanted, const Fetched &fetched) {
    const bool answered = port_.answers();
    const bool arrives = answered && !discarded_;
    const bool room = !(words_ >= 2 && (words_ == 3 || outstanding_));
    const bool fresh = room || branch;
    const bool requests = waiting_ || fresh;
    const u32 address = waiting_ ? stored_ : branch ? wanted.address : next_;
    const bool granted = requests && port_.free();
    const bool discards = waiting_ && (branch || discarding_);
    if (fresh && !waiting_ && !granted)
      stored_ = address;
    if (branch || (fresh && !waiting_))
      next_ = (branch ? wanted.address : next_ & ~3U) + (fresh && !waiting_ ? 4 : 0);

    // At most one fetch is under way, but for the cycle in which one is answered and the next granted.
    const bool was = outstanding_;
    discarded_ = answered ? granted && discards && was : (granted && discards) || (branch && was) || discarded_;
    outstanding_ = answered ? granted && was : granted || was;
    waiting_ = requests && !granted;
    discarding_ = discards;
    if (granted)
      port_.grant(fetched(address & ~3U));
    else
      port_.pass();

    const u32 there = words_ + (arrives ? 1 : 0);
    const bool valid = there >= (wanted.split() ? 2U : 1U);
    const bool taken = valid && ready && !branch;
    words_ = branch ? 0 : there - (taken && wanted.frees_a_word() ? 1 : 0);
    return taken;
  }

  // Cycles that may be skipped while ID/EX waits for an instruction: nothing but the memory's clock would move.
  u32 skip() {
    const bool room = !(words_ >= 2 && (words_ == 3 || outstanding_));
    const u32 cycles = waiting_ || !room ? port_.idle() : 0;
    port_.skip(cycles);
    return cycles;
  }

private:
  Port port_;
  u32 words_ = 0; // that have come and are not used up
  u32 next_ = 0;  // address of the next fetch
  u32 stored_ = 0;
  bool outstanding_ = false, discarded_ = false; // a fetch that is under way; of no use
  bool waiting_ = false, discarding_ = false;    // a request that is not granted yet; of no use
};

} // namespace rlcc

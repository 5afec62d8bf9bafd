// The event list: a tournament tree with four children a node and exactly one leaf a FIFO stream.
//
// A stream (a host's NIC, an uplink, a port, the control path ..) holds its own events in time order, so only its first
// one competes. Setting a leaf replays the matches on its way to the root and stops where the winner stays the same;
// any leaf may be set, so an event that moves (a flow that may send earlier) costs no search and leaves nothing stale.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "prefetch.hpp"
#include "time.hpp"

namespace netsim {

class EventTree {
public:
  explicit EventTree(std::size_t leaves = 1) {
    std::size_t total = 0;
    while (leaves > 1) { // one leaf is the winner
      leaves = (leaves + 3) / 4;
      level_[levels_++] = static_cast<std::uint32_t>(total);
      total += leaves;
    }
    groups_.assign(total, Group{{kNever, kNever, kNever, kNever}});
  }

  std::uint64_t first() const { return first_; }

  void fetch(std::size_t leaf) const { // it is set soon
    if (levels_ > 0)
      prefetch(groups_[leaf >> 2]);
  }

  [[gnu::always_inline]] void set(std::size_t leaf, std::uint64_t key) {
    Group *const groups = groups_.data();
    std::size_t index = leaf;
    for (std::uint32_t level = 0; level < levels_; ++level) {
      std::array<std::uint64_t, 4> &keys = groups[level_[level] + (index >> 2)].key;
      if (keys[index & 3] == key)
        return;
      keys[index & 3] = key;
      key = std::min(std::min(keys[0], keys[1]), std::min(keys[2], keys[3]));
      index >>= 2;
    }
    first_ = key;
  }

private:
  struct alignas(32) Group {
    std::array<std::uint64_t, 4> key;
  };
  std::vector<Group> groups_; // leaves first, then their winners, the root's group last
  std::uint64_t first_ = kNever;
  std::array<std::uint32_t, 11> level_{}; // where each level starts: 4^11 leaves are more than there can be flows
  std::uint32_t levels_ = 0;
};

} // namespace netsim

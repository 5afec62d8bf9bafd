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

#include "time.hpp"

namespace netsim {

class EventTree {
public:
  explicit EventTree(std::size_t leaves = 1) {
    std::size_t groups = (leaves + 3) / 4;
    std::size_t total = 0;
    for (;;) {
      level_.push_back(total);
      total += groups;
      if (groups == 1)
        break;
      groups = (groups + 3) / 4;
    }
    groups_.assign(total, Group{{kNever, kNever, kNever, kNever}});
  }

  std::uint64_t first() const { return first_; }

  void set(std::size_t leaf, std::uint64_t key) {
    std::size_t index = leaf;
    for (const std::size_t base : level_) {
      Group &group = groups_[base + (index >> 2)];
      if (group.key[index & 3] == key)
        return;
      group.key[index & 3] = key;
      key = std::min(std::min(group.key[0], group.key[1]), std::min(group.key[2], group.key[3]));
      index >>= 2;
    }
    first_ = key;
  }

private:
  struct alignas(32) Group {
    std::array<std::uint64_t, 4> key;
  };
  std::vector<Group> groups_;      // leaves first, then their winners, the root's group last
  std::vector<std::size_t> level_; // where each level starts
  std::uint64_t first_ = kNever;
};

} // namespace netsim

// A host's NIC: its queue pairs by the time they may send next.
//
// Queue pairs that are due are served round robin, a burst at a time: the one that has waited longest is the next, and
// after its burst it stands behind all others that are due. A traffic class that is paused is left out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "event_tree.hpp"
#include "time.hpp"

namespace netsim {

struct Nic {
  Nic(std::size_t queue_pairs, std::size_t classes, bool priorities)
      : due(queue_pairs), others(classes - 1, EventTree(queue_pairs)), priorities(priorities) {}

  EventTree due;                 // a leaf a queue pair of class 0
  std::vector<EventTree> others; // .. of each other class
  Ps free_at = 0;
  std::uint32_t first_flow = 0;
  std::uint8_t paused = 0; // a bit a class
  bool priorities = false; // of the queue pairs that are due, those of the lowest class come first

  void set(std::uint8_t klass, std::uint32_t queue_pair, std::uint64_t key) {
    (klass == 0 ? due : others[klass - 1]).set(queue_pair, key);
  }

  // The queue pair to be served at its turn `now`, by its key.
  std::uint64_t served(Ps now) const {
    if (!priorities)
      return first();
    if ((paused & 1) == 0 && key_time(due.first()) <= now)
      return due.first();
    for (std::size_t c = 0; c < others.size(); ++c) {
      if ((paused >> (c + 1) & 1) == 0 && key_time(others[c].first()) <= now)
        return others[c].first();
    }
    return first();
  }

  // The queue pair that is due first, by its key.
  std::uint64_t first() const {
    if (paused == 0 && others.empty())
      return due.first();
    std::uint64_t key = (paused & 1) == 0 ? due.first() : kNever;
    for (std::size_t c = 0; c < others.size(); ++c) {
      if ((paused >> (c + 1) & 1) == 0)
        key = std::min(key, others[c].first());
    }
    return key;
  }

  // When the uplink is free and a queue pair is due; not before kLatest where none is.
  Ps next() const { return std::max(key_time(first()), free_at); }
};

} // namespace netsim

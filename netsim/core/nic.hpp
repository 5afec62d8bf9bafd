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
  Nic(std::size_t queue_pairs, std::size_t classes) : due(classes, EventTree(queue_pairs)) {}

  std::vector<EventTree> due; // of each class: a leaf a queue pair
  Ps free_at = 0;
  std::uint32_t first_flow = 0;
  std::uint8_t paused = 0; // a bit a class

  // The queue pair to be served next, by its key.
  std::uint64_t first() const {
    if (due.size() == 1 && paused == 0)
      return due.front().first();
    std::uint64_t key = kNever;
    for (std::size_t c = 0; c < due.size(); ++c) {
      if ((paused >> c & 1) == 0)
        key = std::min(key, due[c].first());
    }
    return key;
  }

  // When the uplink is free and a queue pair is due.
  Ps next() const {
    const std::uint64_t key = first();
    if (key == kNever)
      return kLatest;
    const Ps time = key_time(key);
    return time > free_at ? time : free_at;
  }
};

} // namespace netsim

// A host's NIC: its queue pairs by the time they may send next, and its uplink.
//
// Queue pairs that are due are served round robin, a burst at a time: the one that has waited longest is the next, and
// after its burst it stands behind all others that are due.
#pragma once

#include <cstdint>

#include "event_tree.hpp"
#include "packet.hpp"
#include "ring.hpp"

namespace netsim {

struct Nic {
  explicit Nic(std::size_t queue_pairs) : due(queue_pairs) {}

  EventTree due; // a leaf a queue pair
  Ps free_at = 0;
  std::uint32_t first_flow = 0;
  Ring<Burst> uplink{64};

  // When the uplink is free and a queue pair is due.
  Ps next() const {
    if (due.first() == kNever)
      return kLatest;
    const Ps first = key_time(due.first());
    return first > free_at ? first : free_at;
  }
};

} // namespace netsim

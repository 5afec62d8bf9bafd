// The clock and the event list of the senders' side. Whoever has events to come holds a stream in it, with the first of
// them. NICs take their turns by themselves (sending.hpp), and what is on its way through the switches has a list of
// its own, which runs behind this one (forwarding.hpp).
//
// Streams, in the order that breaks ties: of each cohort the decisions that take effect and the ticks of its period,
// the ways back (one a delay), events that come late, flows that start, pauses, links that fail; transmissions that
// end, links, uplinks. NICs come last.
#pragma once

#include <cstdint>

#include "event_tree.hpp"
#include "ring.hpp"
#include "time.hpp"

namespace netsim {

struct Streams {
  Streams(std::size_t cohorts, std::size_t ways, std::size_t ports)
      : control(static_cast<std::uint32_t>(2 * cohorts)), delayed_events(control + static_cast<std::uint32_t>(ways)),
        starts(delayed_events + 1), pauses(starts + 1), changes(pauses + 1), transmitters(changes + 1),
        links(transmitters + static_cast<std::uint32_t>(ports)), uplinks(links + static_cast<std::uint32_t>(ports)) {}

  static std::uint32_t due(std::uint32_t cohort) { return 2 * cohort; }
  static std::uint32_t tick(std::uint32_t cohort) { return 2 * cohort + 1; }

  std::uint32_t control, delayed_events, starts, pauses, changes, transmitters, links,
      uplinks; // the first of each kind
};

struct Loop {
  explicit Loop(const Streams &s) : streams(s), events(s.transmitters) {}

  // The first event of a stream: at `time`, or none.
  void set(std::uint32_t stream, Ps time) { events.set(stream, event_key(time, stream)); }
  void clear(std::uint32_t stream) { events.set(stream, kNever); }
  // .. that of a queue of them, each with its `time`.
  template <class T> void follow(std::uint32_t stream, Ring<T> &queue, Ps T::*time) {
    events.set(stream, queue.empty() ? kNever : event_key(queue.front().*time, stream));
  }

  Streams streams;
  EventTree events;
  Ps now = 0;
  Ps limit = 0; // the run stops before events from here on
};

} // namespace netsim

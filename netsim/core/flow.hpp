// The two ends of a flow: the sender at its host's NIC and the receiver behind a port of a switch.
#pragma once

#include <algorithm>
#include <cstdint>

#include "config.hpp"
#include "packet.hpp"
#include "time.hpp"

namespace netsim {

inline constexpr std::uint32_t kUnlimited = ~std::uint32_t{0};

struct alignas(64) Sender { // two cache lines
  // Pacing: a burst of b ps on the wire moves the next one to pace_base + b / rate.
  Ps pace_at = 0;
  Ps pace_base = 0;
  double rate = 1.0;
  std::uint32_t last_burst_ps = 0;

  // Sequence numbers of packets; they go on when a flow comes back, as those of a queue pair do.
  std::uint32_t start_psn = 0;
  std::uint32_t end_psn = 0; // kUnlimited: no end
  std::uint32_t next_psn = 0;
  std::uint32_t acked_psn = 0;
  std::uint32_t asked_psn = 0; // an ACK has been asked for up to here
  std::uint32_t window = 0;    // packets in flight at the most
  std::uint8_t cohort = 0;     // that steers it
  bool repeats = false;        // packets are missing and not yet repeated (scoreboard.hpp)
  std::uint16_t absent = 0;    // packets between acked_psn and next_psn that are not in flight: come, or missing
  Ps timed_at = 0;             // when the oldest ACK asked for was asked for, or the last one came

  // RTT probe: one outstanding.
  Ps probe_at = 0; // not before
  Ps probe_sent_at = 0;
  std::uint32_t probe_serial = 0;
  std::uint32_t probe_queue_bytes = 0;
  bool probe_outstanding = false;
  bool probe_astray = false; // an older one may still be under way
  bool active = false;
  std::uint8_t klass = 0; // that its packets carry from now on

  // Since the last event that was taken (flow_site.hpp).
  std::uint32_t cnp_count = 0;
  std::uint32_t nack_count = 0;
  std::uint32_t sent_bytes = 0; // payload

  std::uint32_t step = 0;       // decisions since the flow was new
  std::uint32_t generation = 0; // how often it has been new
  std::uint32_t host = 0;
  std::uint32_t qp = 0; // index within the host
  std::uint64_t sent_total = 0;

  // From a burst to the next one.
  Ps gap() const { return static_cast<Ps>(std::min(last_burst_ps / rate, static_cast<double>(kLatest / 2))); }
  bool ack_awaited() const { return asked_psn > acked_psn; }

  const Ends &ends(const NetworkConfig &net) const { return net.ends[cohort]; }

  // Packets that may leave in one burst: within the burst limit, what may be in flight, the message and the flow.
  std::uint32_t burst_room(const NetworkConfig &net) const {
    const std::uint32_t room = absent == 0 ? acked_psn + window - next_psn : room_beside_gaps();
    const std::uint32_t left = end_psn - next_psn;
    const std::uint32_t message_left = net.message_packets - of_message(net);
    return std::min(std::min(room, left), std::min(message_left, ends(net).burst_packets));
  }
  // Missing packets that may leave in one burst.
  std::uint32_t repeat_room(const NetworkConfig &net) const {
    return std::min(std::max(window, 1u) - in_flight(), ends(net).burst_packets);
  }
  // Packets of the message under way that have been sent.
  std::uint32_t of_message(const NetworkConfig &net) const {
    const std::uint32_t sent = next_psn - start_psn, message = net.message_packets;
    return (message & (message - 1)) == 0 ? sent & (message - 1) : sent % message;
  }
  // Enough has happened since the last event or probe for another one; a new flow's first ones wait for nothing.
  bool probe_due(const NetworkConfig &net, Ps now) const {
    const Ends &e = ends(net);
    return sent_bytes >= e.probe_after || step < e.probe_first || now - probe_sent_at >= e.probe_latest;
  }
  bool blocked() const {
    if (absent == 0)
      return next_psn == end_psn || next_psn - acked_psn >= window;
    return in_flight() >= std::max(window, 1u) || (!repeats && (next_psn == end_psn || room_beside_gaps() == 0));
  }
  bool drained() const { return next_psn == acked_psn; }
  std::uint32_t in_flight() const { return next_psn - acked_psn - absent; }
  // New packets that may leave while packets are missing: within the window and what a receiver holds.
  std::uint32_t room_beside_gaps() const {
    const std::uint32_t flight = in_flight(), span = next_psn - acked_psn;
    return flight >= window || span >= kMostHeld ? 0 : std::min(window - flight, kMostHeld - span);
  }

  // Go back N: everything from `psn` on is sent again.
  void go_back(std::uint32_t psn, Ps now) {
    next_psn = psn;
    acked_psn = psn;
    asked_psn = psn;
    timed_at = now;
  }
};
static_assert(sizeof(Sender) == 128);

struct Receiver {
  Ps cnp_at = 0;        // no CNP before
  Ps base_latency = 0;  // of a full data packet that waits nowhere
  Ps last_sent_at = -1; // of the last packet that came (checked builds)
  std::uint32_t expected_psn = 0;
  std::uint32_t gap_psn = 0; // the last packet that came out of order
  std::uint8_t cohort = 0;   // that steers the flow
  bool nacked = false;       // the gap has been reported
  bool marked = false;       // a packet that is held, or was since the last ACK
  bool overtakes = false;    // packets may come on another path than those before them
};

// Where a flow's packets pass: ports in order, the delay of the way back.
struct Route {
  std::uint32_t first = 0; // in ScenarioConfig::routes
  std::uint16_t control = 0;
  std::uint8_t hops = 1;
};
static_assert(sizeof(Route) == 8);

} // namespace netsim

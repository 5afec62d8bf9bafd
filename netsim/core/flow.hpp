// The two ends of a flow: the sender at its host's NIC and the receiver behind a port of the switch.
#pragma once

#include <algorithm>
#include <cstdint>

#include "config.hpp"
#include "packet.hpp"
#include "time.hpp"

namespace netsim {

inline constexpr std::uint32_t kUnlimited = ~std::uint32_t{0};

struct Sender {
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
  Ps timed_at = 0;             // when the oldest ACK asked for was asked for, or the last one came

  // RTT probe: one outstanding.
  Ps probe_at = 0; // not before
  Ps probe_sent_at = 0;
  std::uint32_t probe_serial = 0;
  std::uint32_t probe_queue_bytes = 0;
  bool probe_outstanding = false;
  bool active = false;

  // Since the last decision.
  std::uint32_t cnp_count = 0;
  std::uint32_t nack_count = 0;
  std::uint32_t sent_packets = 0;

  std::uint32_t step = 0;       // decisions since the flow was new
  std::uint32_t generation = 0; // how often it has been new
  std::uint32_t host = 0;
  std::uint32_t port = 0;
  std::uint32_t qp = 0; // index within the host
  std::uint64_t sent_total = 0;

  bool ack_awaited() const { return asked_psn > acked_psn; }

  // Packets that may leave in one burst: within the burst limit, the in-flight cap, the message and the flow.
  std::uint32_t burst_room(const NetworkConfig &net) const {
    const std::uint32_t room = acked_psn + net.inflight_packets - next_psn;
    const std::uint32_t left = end_psn - next_psn;
    const std::uint32_t message_left = net.message_packets - (next_psn - start_psn) % net.message_packets;
    return std::min(std::min(room, left), std::min(message_left, net.burst_packets));
  }
  bool blocked(const NetworkConfig &net) const {
    return next_psn == end_psn || next_psn - acked_psn >= net.inflight_packets;
  }

  // Go back N: everything from `psn` on is sent again.
  void go_back(std::uint32_t psn, Ps now) {
    next_psn = psn;
    acked_psn = psn;
    asked_psn = psn;
    timed_at = now;
  }
};

struct Receiver {
  Ps cnp_at = 0; // no CNP before
  std::uint32_t expected_psn = 0;
  std::uint32_t gap_psn = 0; // the last packet that came out of order
  bool nacked = false;       // the gap has been reported
};

} // namespace netsim

// A hand-written algorithm at the sender: what it is told of its flow and what it steers.
//
// Unlike a Policy it is not asked once an RTT probe but hears of every ACK, CNP and loss, as it does in a NIC. A site
// whose agents decide on such news is one too (window_site.hpp).
#pragma once

#include <cstdint>
#include <limits>

#include "time.hpp"

namespace netsim {

// What a switch port stamps into a packet when its transmission begins (INT).
struct Hop {
  Ps time = 0;
  std::uint64_t sent_bytes = 0;  // of the port since the start, this packet excluded
  std::uint32_t queue_bytes = 0; // behind this packet
  std::uint32_t ps_per_byte = 0; // of the port
};

inline constexpr std::uint32_t kMaxHops = 5;

struct Ack {
  Ps now = 0;
  Ps rtt = 0;                  // of the packet that asked for it: first bit sent to ACK received
  std::uint32_t acked_psn = 0; // all packets before this one have arrived; behind the packet, where it came early
  std::uint32_t next_psn = 0;  // the first packet that has not been sent
  std::uint32_t packets = 0;   // newly acknowledged
  bool marked = false;         // the packet that asked for it carried the ECN mark
  const Hop *hops = nullptr;   // that packet's, in the order of its path; none where the network has no INT
  std::uint32_t hop_count = 0;
  std::uint32_t bytes = 0; // payload newly acknowledged
  std::uint32_t path = 0;  // entropy value of the packet that asked for it, 0 where there are none
};

// How a sender knows that packets are lost: a switch trimmed one, the receiver refuses what comes behind a gap, later
// packets have come, or an ACK has not come in time.
enum class LossKind : std::uint8_t { trimmed, nacked, skipped, expired };

struct Loss {
  Ps now = 0;
  LossKind kind = LossKind::nacked;
  std::uint32_t bytes = 0; // of payload
};

// What is known of a flow's path when it starts.
struct PathFacts {
  Ps base_rtt = 0; // of a full data packet and its ACK in an empty network
  std::uint32_t hops = 1;
  Ps line_ps_per_byte = 80; // of the NIC
  std::uint32_t data_wire_bytes = 1106;
};

// What limits a sender. It never has more than `window` packets in flight, and never less than one.
struct Pace {
  double rate = 1.0; // of the NIC's line rate, in (0, 1]
  double window = std::numeric_limits<double>::infinity();
};

class Baseline {
public:
  virtual ~Baseline() = default;

  // The flow is new (a flow that comes back is new again).
  virtual Pace start(std::uint32_t flow, Ps now, const PathFacts &path) = 0;

  // Each returns the limits from now on.
  virtual Pace on_ack(std::uint32_t flow, const Ack &ack) = 0;
  virtual Pace on_cnp(std::uint32_t flow, Ps now) = 0;
  virtual Pace on_loss(std::uint32_t flow, Ps now) = 0; // packets are missing
  virtual Pace on_timeout(std::uint32_t flow, Ps now) { return on_loss(flow, now); }
  // Either, with all that is known of it.
  virtual Pace on_lost(std::uint32_t flow, const Loss &loss) {
    return loss.kind == LossKind::expired ? on_timeout(flow, loss.now) : on_loss(flow, loss.now);
  }

  // `bytes` of it (on the wire) begin to leave the NIC. Only told where `timed()`.
  virtual void on_sent(std::uint32_t /*flow*/, Ps /*now*/, std::uint32_t /*bytes*/) {}

  // When the next burst may leave if one of `burst` (its duration at line rate) began at `begin` and nothing is heard
  // until then. Only asked where `timed()`; others send at begin + burst / rate.
  virtual bool timed() const { return false; } // the rate changes with time alone
  virtual Ps next_send(std::uint32_t /*flow*/, Ps begin, Ps /*burst*/) { return begin; }
  virtual double rate_at(std::uint32_t /*flow*/, Ps /*now*/) { return 1.0; } // only asked where timed()
};

} // namespace netsim

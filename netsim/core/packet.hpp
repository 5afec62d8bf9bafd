// What travels: plain records of at most 32 bytes, copied into ring buffers.
#pragma once

#include <cstdint>

#include "time.hpp"

namespace netsim {

// Back-to-back packets of one flow on an uplink: `packets` data packets from `psn` on, then the probe if there is one.
// `arrival` is when the next of them has wholly reached the switch.
struct Burst {
  Ps arrival;
  std::uint32_t flow;
  std::uint32_t psn;
  std::uint32_t probe_serial; // 0: no probe follows
  std::uint16_t packets;
  std::uint8_t ack; // the last data packet ends a message (or the flow) and asks for an ACK
};
static_assert(sizeof(Burst) <= 32);

enum class PacketKind : std::uint8_t { data, probe };

// A packet that a port has accepted. Its wait is known then: the port is a FIFO of constant rate.
struct Packet {
  Ps delivery;
  std::uint32_t flow;
  std::uint32_t psn; // of a probe: its serial number
  std::uint32_t wait_ps;
  PacketKind kind;
  bool ack;
  bool marked;
};
static_assert(sizeof(Packet) <= 32);

enum class ControlKind : std::uint8_t { ack, nack, cnp, response };

// On the way back, on a path of constant delay.
struct Control {
  Ps arrival;
  std::uint32_t flow;
  std::uint32_t value; // ack, nack: the next packet the receiver expects; response: the probe's serial number
  ControlKind kind;
};
static_assert(sizeof(Control) <= 32);

// A decision that has been made and waits for the decision latency to pass.
struct PendingRate {
  Ps due;
  std::uint32_t flow;
  std::uint32_t generation;
  double rate;
};
static_assert(sizeof(PendingRate) <= 32);

} // namespace netsim

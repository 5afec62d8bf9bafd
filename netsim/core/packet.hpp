// What travels: plain records, copied into ring buffers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "time.hpp"

namespace netsim {

// Back-to-back packets of one flow on a host's uplink: `packets` data packets from `psn` on, then the probe if there is
// one. `arrival` is when the next of them has wholly reached the switch.
struct Burst {
  Ps arrival;
  std::uint32_t host;
  std::uint32_t flow;
  std::uint32_t psn;
  std::uint32_t probe_serial; // 0: no probe follows
  std::uint16_t packets;
  std::uint16_t last_bytes; // on the wire, of the last data packet: a flow's last one may be short
  bool ack_last;            // the last data packet ends a message (or the flow) and asks for an ACK
  bool ack_each;            // every data packet asks for one
  std::uint8_t klass;       // traffic class of all of them
};
static_assert(sizeof(Burst) <= 32);

enum class PacketKind : std::uint8_t { data, probe };

// A packet at a switch port or on the link behind it.
struct Packet {
  Ps due;     // when it has wholly reached the other end of the link
  Ps sent_at; // when its first bit left the NIC
  Ps wait;    // at this port
  std::uint32_t flow;
  std::uint32_t psn;        // of a probe: its serial number
  std::uint32_t telemetry;  // what switches stamped into it, 0: nothing
  std::uint16_t wire_bytes; // with headers, preamble and gap
  std::uint8_t hop;         // ports it has passed before this one
  PacketKind kind : 1;
  bool ack : 1;
  bool marked : 1;
  bool marked_here : 1; // by the queue that it is in, or left last
  std::uint8_t klass : 3;
  bool trimmed : 1; // a switch left its header alone of it
};
static_assert(sizeof(Packet) <= 40);

// All bit-fields at once: one by one each would wait for the byte that it is to change, which no cache holds.
inline void copy_bits(Packet &to, const Packet &from) {
  constexpr std::size_t kBits = offsetof(Packet, hop) + sizeof(Packet::hop);
  static_assert(kBits + 1 == sizeof(Packet));
  reinterpret_cast<unsigned char *>(&to)[kBits] = reinterpret_cast<const unsigned char *>(&from)[kBits];
}

enum class ControlKind : std::uint8_t { ack, nack, trim, cnp, response };

// On the way back, on a path of constant delay.
struct Control {
  Ps arrival;
  Ps sent_at; // ack: when the packet that asked for it was sent
  std::uint32_t flow;
  std::uint32_t value;     // ack, nack: the next packet the receiver expects; trim: the packet whose header has come;
                           // response: the probe's serial number
  std::uint32_t telemetry; // ack: of the packet that asked for it
  std::uint16_t beyond;    // ack: of the packet that asked for it, by how much it came early (selective repeat); else 0
  ControlKind kind;
  bool marked; // ack: the packet that asked for it carried the mark
};
static_assert(sizeof(Control) <= 32);

// A priority flow control frame on its way to the transmitter of a link (IEEE 802.1Qbb).
struct Pause {
  Ps arrival;
  std::uint32_t link;
  std::uint8_t klass;
  bool on;
  std::uint64_t order; // of telling: frames of one link do not overtake one another
  bool operator>(const Pause &other) const {
    return arrival != other.arrival ? arrival > other.arrival : order > other.order;
  }
};

} // namespace netsim

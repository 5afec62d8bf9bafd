// The receivers: in-order delivery, and what they send back (ACK, NACK, CNP, response to a probe).
#pragma once

#include "network.hpp"

namespace netsim {

class Receiving {
public:
  explicit Receiving(Network &network) : n_(network) {}

  void receive(Ps now, const Packet &packet); // at the end of its path

private:
  void deliver(Ps now, const Packet &packet);
  void refuse(Ps now, const Packet &packet);
  Ps short_packet_saves(const Packet &packet) const;
  void send_ack(Ps now, const Packet &packet, std::uint32_t expected);
  void send(Ps now, std::uint32_t flow, ControlKind kind, std::uint32_t value);
  Control &send_back(Ps now, std::uint32_t flow); // on its way back, to be filled in

  Network &n_;
};

} // namespace netsim

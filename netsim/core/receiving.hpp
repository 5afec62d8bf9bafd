// The receivers: in-order delivery, and what they send back (ACK, NACK, CNP, response to a probe).
#pragma once

#include "network.hpp"
#include "time_order.hpp"

namespace netsim {

class Receiving {
public:
  explicit Receiving(Network &network) : n_(network), known_(network.control.size()), mixed_(network.control.size()) {}

  // Receivers take packets one receiver after the other, each those of a stretch of time; what they send back stands in
  // order on its way after the stretch.
  void begin();
  void receive(Ps now, const Packet &packet); // at the end of its path
  void end();

private:
  void deliver(Ps now, const Packet &packet);
  void refuse(Ps now, const Packet &packet);
  Ps short_packet_saves(const Packet &packet) const;
  void send_ack(Ps now, const Packet &packet, std::uint32_t expected);
  void send(Ps now, std::uint32_t flow, ControlKind kind, std::uint32_t value);
  Control &send_back(Ps now, std::uint32_t flow); // on its way back, to be filled in

  Network &n_;
  std::vector<std::size_t> known_;  // of each way back, what was on it before the stretch
  std::vector<std::uint8_t> mixed_; // .. whether what is new is not in order
  std::vector<Control> sent_;
  TimeOrder order_;
};

} // namespace netsim

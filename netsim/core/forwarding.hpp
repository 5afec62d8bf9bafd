// From the uplink through the switches to the receiver.
#pragma once

#include "network.hpp"
#include "receiving.hpp"

namespace netsim {

class Pausing;

class Forwarding {
public:
  Forwarding(Network &network, Receiving &receivers, Pausing &pausing)
      : n_(network), receivers_(receivers), pausing_(pausing) {}

  void on_uplink(Ps now, std::uint32_t host);      // the first packet has crossed a host's uplink
  void on_link(Ps now, std::uint32_t port);        // .. the link behind a port
  void on_transmitted(Ps now, std::uint32_t port); // a scheduled port has sent its packet
  void resume(Ps now, std::uint32_t port) {        // it may send again
    if (!n_.fabric.port(port).busy)
      transmit(now, port);
  }

private:
  void forward(Ps now, std::uint32_t port, Ingress from, Packet &packet);
  void transmit(Ps now, std::uint32_t port);

  Network &n_;
  Receiving &receivers_;
  Pausing &pausing_;
};

} // namespace netsim

// The NICs' side of sending: whose turn it is, and the burst that leaves then.
#pragma once

#include <cstdint>

#include "network.hpp"

namespace netsim {

class FlowSite;
class Forwarding;

class Sending {
public:
  Sending(Network &network, FlowSite &flows, Forwarding &forwarding)
      : n_(network), flows_(flows), forwarding_(forwarding) {}

  void turn(Ps now, std::uint32_t host);
  // When a queue pair may send next: by its pace; never while blocked, unless an ACK can time out.
  void schedule(const Sender &sender);
  void schedule_nic(std::uint32_t host);

private:
  Network &n_;
  FlowSite &flows_;
  Forwarding &forwarding_;
};

} // namespace netsim

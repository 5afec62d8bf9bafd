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

  // Turns before `until`: of one host's NIC, before something happens to one of its flows then, or of all.
  void turns_of(std::uint32_t host, Ps until) {
    if (n_.turns.of(host) < until)
      take_turns(host, until);
  }
  void turns(Ps until);
  Ps last() const { return last_; } // when the last turn was
  // When a queue pair may send next: by its pace; never while blocked, unless an ACK can time out.
  void schedule(const Sender &sender);
  void schedule_nic(std::uint32_t host);
  // Its packets carry another class from now on, or leave by another NIC of its machine. It is scheduled after that.
  void place(Sender &sender, std::uint8_t klass, std::uint32_t host);

private:
  void take_turns(std::uint32_t host, Ps until);
  void turn(Ps now, std::uint32_t host);
  void set_turn(const Nic &nic, std::uint32_t host);
  void demote(std::uint32_t flow, Sender &s);

  Network &n_;
  FlowSite &flows_;
  Forwarding &forwarding_;
  Ps last_ = 0;
};

} // namespace netsim

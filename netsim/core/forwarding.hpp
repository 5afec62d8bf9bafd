// From the uplinks through the switches to the receivers.
//
// It runs behind the senders' side, a stretch of time at once: whatever happens here at a time t reaches a sender no
// earlier than t + lookahead(), by a way back or a pause. Senders may go on up to `horizon()`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "network.hpp"
#include "policer.hpp"
#include "receiving.hpp"
#include "routing.hpp"
#include "turns.hpp"

namespace netsim {

class Pausing;

class Forwarding {
public:
  Forwarding(Network &network, Receiving &receivers, Pausing &pausing, const RoutingConfig &routing,
             std::uint64_t seed);

  // Senders' events before this time are known.
  Ps horizon() const { return done_ + lookahead_; }
  // Everything before `until`; all NICs have had their turns up to then.
  void catch_up(Ps until);
  // Nothing happens before `until`, at the senders neither.
  void skip(Ps until) { done_ = std::max(done_, until); }
  Ps first() const {
    return std::min(key_time(std::min(n_.uplinks.first(), events_.first())), arrivals_.none_before());
  }
  Ps last() const { return std::max(last_, arrived_); } // when the last thing happened here

  void resume(Ps now, std::uint32_t port) { // a pause is over: it may send again
    if (!n_.fabric.port(port).busy)
      transmit(now, port);
  }
  bool routes_move() const { return routing_.on(); }
  void frames(std::uint64_t key) { events_.set(0, key); } // the first pause for a port

private:
  void on_uplink();                                // the first packet has crossed an uplink
  void on_link(Ps now, std::uint32_t port);        // .. the link from a port to the next one
  void on_arrivals(std::uint32_t port, Ps until);  // packets have crossed the link to a receiver
  void on_transmitted(Ps now, std::uint32_t port); // a scheduled port has sent its packet
  void on_change(Ps now);                          // links fail or come back, or the routes follow
  void set_change();
  void lose(std::uint32_t port, const Packet &packet);
  void lose_data(std::uint32_t port, std::uint32_t flow);
  bool lose_refused(std::uint64_t end);
  void leave(Ps now, std::uint32_t at, Ingress from, Packet &packet); // by the port that the routing names
  void forward(Ps now, std::uint32_t port, Ingress from, Packet &packet);
  void transmit(Ps now, std::uint32_t port);
  void set_link(std::uint32_t port, const Ring<Packet> &link);
  Packet &first(Port &port);
  static void pop(Port &port);

  Network &n_;
  Receiving &receivers_;
  Pausing &pausing_;
  Routing routing_;
  std::vector<Policer> policers_; // of each receiver, where there are any
  Ps lookahead_;
  Ps done_ = 0;               // what comes before it has been dealt with
  Ps last_ = 0, arrived_ = 0; // the last of `events_` and uplinks, and of `arrivals_`
  EventTree events_;          // pauses for ports, each port's transmission that ends, its link to another port, changes
  Turns arrivals_;            // of each link to a receiver: nothing at the switches depends on them
};

} // namespace netsim

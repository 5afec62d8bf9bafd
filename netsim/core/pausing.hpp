// Priority flow control (IEEE 802.1Qbb) of a lossless network: frames that stop and start the transmitter of a link.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "forwarding.hpp"
#include "network.hpp"
#include "sending.hpp"

namespace netsim {

class Pausing {
public:
  Pausing(Network &network, Sending &sending, Forwarding &forwarding, const FabricConfig &fabric);

  void tell(Ps now, Ingress from, bool on); // a frame takes the link's delay and waits for nothing
  void on_nic_frame(Ps now);                // the first of those for NICs has come
  void on_port_frame(Ps now);               // .. for ports
  void settle(Ps now);                      // pauses that go on count up to now

private:
  using Frames = std::priority_queue<Pause, std::vector<Pause>, std::greater<Pause>>;

  std::uint64_t first(const Frames &frames) const {
    return frames.empty() ? kNever : event_key(frames.top().arrival, n_.loop.streams.pauses);
  }
  void note(Ps now, const Pause &pause, std::uint8_t &paused);

  Network &n_;
  Sending &sending_;
  Forwarding &forwarding_;
  Frames to_nics_, to_ports_;
  std::uint64_t told_ = 0;
  std::vector<Ps> link_delay_; // of hosts' uplinks, then of ports
  std::vector<Ps> since_;      // of each link and class: paused since, -1: it is not
};

} // namespace netsim

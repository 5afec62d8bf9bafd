// One shared-buffer switch: an output port a receiver, tail drop, ECN marking at enqueue.
//
// A port is a FIFO served at a constant rate, so a packet's departure is known when it comes: no event ends a
// transmission. The queue is measured as the work left, in ps of line time (exactly ps_per_byte a byte); a packet frees
// its buffer as it leaves, byte by byte.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "config.hpp"
#include "packet.hpp"
#include "random.hpp"
#include "ring.hpp"

namespace netsim {

struct Port {
  Ps free_at = 0;
  Ps longest = 0;                   // longest queue since the window began, ps of line time, the new packet included
  std::uint64_t received_bytes = 0; // wire bytes that reached the receiver
  Ring<Packet> queue{1024};
};

class Switch {
public:
  Switch(const NetworkConfig &net, std::uint32_t ports, std::uint64_t seed)
      : ports_(ports), random_(seed, 2), buffer_(net.buffer_bytes * net.ps_per_byte),
        ecn_min_(net.ecn_min_bytes * net.ps_per_byte), ecn_max_(net.ecn_max_bytes * net.ps_per_byte),
        slope_(ecn_max_ > ecn_min_ ? net.ecn_max_probability / static_cast<double>(ecn_max_ - ecn_min_) : 0.0),
        delay_(net.downlink_delay) {}

  Port &port(std::uint32_t i) { return ports_[i]; }
  std::vector<Port> &ports() { return ports_; }
  const std::vector<Port> &ports() const { return ports_; }

  Ps backlog(std::uint32_t i, Ps now) const { return std::max<Ps>(ports_[i].free_at - now, 0); }

  // Accept a packet of `duration` ps into a port, or drop it (false). The packet's delivery, wait and mark are set.
  bool enqueue(std::uint32_t i, Ps now, Ps duration, Packet &packet) {
    Port &port = ports_[i];
    const Ps queue = std::max<Ps>(port.free_at - now, 0);
    // `filled_` never forgets departures by itself: an upper bound, made exact only when it would drop.
    if (filled_ + duration > buffer_) {
      filled_ = 0;
      for (const Port &p : ports_)
        filled_ += std::max<Ps>(p.free_at - now, 0);
      if (filled_ + duration > buffer_)
        return false;
    }
    filled_ += duration;
    packet.marked = marks(queue);
    packet.wait_ps = static_cast<std::uint32_t>(queue);
    port.free_at = now + queue + duration;
    packet.delivery = port.free_at + delay_;
    port.longest = std::max(port.longest, queue + duration);
    port.queue.push(packet);
    return true;
  }

private:
  // RED on the instantaneous queue (DCQCN, SIGCOMM'15, figure 5).
  bool marks(Ps queue) {
    if (queue <= ecn_min_)
      return false;
    if (queue > ecn_max_)
      return true;
    return random_.unit() < slope_ * static_cast<double>(queue - ecn_min_);
  }

  std::vector<Port> ports_;
  Pcg32 random_;
  Ps buffer_;
  Ps ecn_min_;
  Ps ecn_max_;
  double slope_;
  Ps delay_;
  Ps filled_ = 0;
};

} // namespace netsim

// Switches with shared buffers: which packets a port takes, which it marks, and which links are told to pause.
#pragma once

#include <cstdint>
#include <vector>

#include "config.hpp"
#include "port.hpp"
#include "telemetry.hpp"

namespace netsim {

// Where a packet comes from: host h's uplink is link h, the link behind port p is link hosts + p.
struct Ingress {
  std::uint32_t link;
  std::uint8_t klass;
};

class Fabric {
public:
  Fabric(const NetworkConfig &net, const FabricConfig &fabric, std::uint32_t hosts, std::uint64_t seed);

  Port &port(std::uint32_t p) { return ports_[p]; }
  std::vector<Port> &ports() { return ports_; }
  const std::vector<Port> &ports() const { return ports_; }
  Telemetry &telemetry() { return telemetry_; }
  bool scheduled() const { return scheduled_; } // ports pick packet by packet (port.hpp)
  bool lossless() const { return lossless_; }

  // Take a packet into a port, its header alone where it is trimmed, or drop it (false). A FIFO sets its `due`.
  bool enqueue(std::uint32_t p, Ps now, Ingress from, Packet &packet) {
    Port &port = ports_[p];
    const Ps duration = packet.wire_bytes * port.ps_per_byte;
    if (scheduled_)
      return enqueue_scheduled(port, now, from, duration, packet);
    const Ps queue = port.backlog(now);
    if (!admits(port, now, queue, duration))
      return false;
    if (!stamp_late_)
      mark(port, port.red, queue, packet);
    port.free_at = now + queue + duration;
    port.longest = std::max(port.longest, queue + duration);
    Packet &held = port.link.add(); // field by field: what was written just before would be waited for by a copy
    held.due = port.free_at + port.delay;
    held.sent_at = packet.sent_at;
    held.wait = queue;
    held.flow = packet.flow;
    held.psn = packet.psn;
    held.telemetry = packet.telemetry;
    held.wire_bytes = packet.wire_bytes;
    held.hop = packet.hop;
    copy_bits(held, packet);
    return true;
  }

  // The buffer has no room for packets of `bytes` or more before `until`, whatever leaves it.
  struct Full {
    Ps until = 0;
    std::uint32_t bytes = 0;
  };
  const Full &full() const { return full_; } // of the only switch, whose ports are FIFOs; else none is noted

  // A port's first packet has reached the other end. A FIFO says only now what it was stamped with as it left; a
  // scheduled port has done so in `begin`.
  void left(Port &port, Packet &packet) {
    // No queue behind it was longer than all that came since: where that is too short for a mark none is counted.
    const bool short_queue = port.free_at - (packet.due - port.delay) <= port.red.min;
    if (!scheduled_ && (packet.telemetry != 0 || (stamp_late_ && !short_queue)))
      stamp_departed(port, packet);
    port.received_bytes += packet.wire_bytes;
    port.marked_bytes += packet.marked_here ? packet.wire_bytes : 0;
  }

  // Its link fails: what is on it or waits for it is lost, to `each`; or it comes back.
  template <class Lost> void fail(Port &port, Ps now, Lost each) {
    for (; !port.link.empty(); port.link.pop()) {
      const Packet &packet = port.link.front();
      if (!scheduled_ && packet.due - port.delay <= now) {
        port.lost.all += packet.wire_bytes;
        port.lost.marked += packet.marked_here ? packet.wire_bytes : 0;
      }
      each(packet);
    }
    for (ClassQueue &queue : port.queues) {
      for (; !queue.packets.empty(); queue.packets.pop())
        each(queue.packets.front().packet);
      queue.waiting = 0;
      queue.deficit = 0;
    }
    port.up = port.busy = false;
    port.free_at = now;
    port.waiting = 0;
    port.came = 0;
  }
  // The switch at which a link ends.
  std::uint32_t end_of(std::uint32_t link) const { return link_node_[link]; }

  // A scheduled port that is idle begins to send what it picks. False: there is nothing that it may send.
  bool begin(Port &port, Ps now);
  // .. and has sent it.
  void finish(Port &port);

  // Whether a link has to be told to pause or to go on, after a packet from it came or left; then it is noted as told.
  bool must_pause(Ingress from);
  bool may_resume(Ingress from);

  void set_red(std::uint32_t p, std::uint32_t klass, const RedConfig &red) {
    ports_[p].red_of(klass) = Red(red, ports_[p].ps_per_byte);
  }
  void set_red(std::uint32_t p, const RedConfig &red) { // of all its classes
    for (std::uint32_t klass = 0; klass < classes_.size(); ++klass)
      set_red(p, klass, red);
  }
  RedConfig red(std::uint32_t p, std::uint32_t klass) const {
    return ports_[p].red_of(klass).config(ports_[p].ps_per_byte);
  }

private:
  // RED, and for packets with telemetry a stamp, when the packet begins to leave `queue` behind.
  void mark(Port &port, const Red &red, Ps queue, Packet &packet) {
    if (red.marks(queue, port.random)) {
      port.marked += packet.kind == PacketKind::data;
      packet.marked = packet.marked_here = true;
    }
  }

  bool admits(const Port &port, Ps now, Ps queue, Ps duration) {
    std::int64_t &filled = filled_[port.node];
    const std::int64_t size = duration * port.scale;
    const auto fits = [&] {
      return filled + size <= buffer_ && (dynamic_ == 0 || static_cast<double>(queue * port.scale + size) <=
                                                               dynamic_ * static_cast<double>(buffer_ - filled));
    };
    if (!fits()) {
      if (lossless_)
        return false;
      // `filled` never forgets departures by itself: an upper bound, made exact only when it would drop.
      filled = 0;
      std::int64_t drains = 0; // a ps, at the most
      for (const std::uint32_t p : ports_of_[port.node]) {
        filled += ports_[p].backlog(now) * ports_[p].scale;
        drains += ports_[p].scale;
      }
      if (!fits()) {
        if (filled_.size() == 1 && !scheduled_ && now >= full_.until && filled + size > buffer_)
          full_ = Full{now + (filled + size - buffer_ + drains - 1) / drains, static_cast<std::uint32_t>(size / unit_)};
        return false;
      }
    }
    filled += size;
    return true;
  }

  bool enqueue_scheduled(Port &port, Ps now, Ingress from, Ps duration, Packet &packet);
  void trade_for_last(Port &port, ClassQueue &queue, Ps backlog, Packet &packet);
  bool enqueue_header(Port &port, Ps now, Ingress from, Packet &packet);
  void hold(Port &port, Ingress from, Ps duration, const Packet &packet);
  void stamp_departed(Port &port, Packet &packet);
  std::size_t account(Ingress from) const { return std::size_t{from.link} * classes_.size() + from.klass; }

  std::vector<Port> ports_;
  std::vector<std::vector<std::uint32_t>> ports_of_; // of each switch
  std::vector<std::int64_t> filled_;                 // of each switch's buffer, in units of 1 / unit_ bytes
  std::int64_t unit_ = 1;                            // a multiple of every port's ps_per_byte
  std::int64_t buffer_ = 0;
  Full full_;
  double dynamic_ = 0;
  bool stamp_late_ = false; // marks are made as packets leave
  bool scheduled_ = false;
  std::vector<ClassConfig> classes_;
  std::uint32_t quantum_ = 0;
  std::int64_t trim_bytes_ = 0;
  std::uint16_t header_bytes_ = 0;
  Telemetry telemetry_;

  // Lossless networks: bytes held of what came over each link, by class.
  bool lossless_ = false;
  std::vector<std::int64_t> held_;
  std::vector<std::uint8_t> told_;        // to pause
  std::vector<std::uint32_t> link_node_;  // the switch at which a link ends
  std::vector<std::int64_t> shared_used_; // of each switch, bytes beyond the links' reserves
  std::int64_t shared_ = 0;               // a switch's buffer without headroom and reserves
  std::int64_t reserve_ = 0;
  std::int64_t resume_ = 0;
};

} // namespace netsim

#include "fabric.hpp"

#include <numeric>
#include <utility>

namespace netsim {

Fabric::Fabric(const NetworkConfig &net, const FabricConfig &fabric, std::uint32_t hosts, std::uint64_t seed)
    : ports_of_(fabric.switches), filled_(fabric.switches, 0), dynamic_(net.dynamic_threshold),
      stamp_late_(net.mark_at_dequeue),
      scheduled_(net.scheduled_ports || net.lossless || net.classes.size() > 1 || net.trim_bytes > 0),
      classes_(net.classes), quantum_(net.data_wire_bytes), trim_bytes_(net.trim_bytes),
      header_bytes_(static_cast<std::uint16_t>(net.probe_wire_bytes)), lossless_(net.lossless),
      shared_used_(fabric.switches, 0), reserve_(net.pfc_reserve_bytes), resume_(net.pfc_resume_bytes) {
  for (const PortConfig &port : fabric.ports)
    unit_ = std::lcm(unit_, port.ps_per_byte);
  buffer_ = net.buffer_bytes * unit_;
  ports_.reserve(fabric.ports.size());
  for (const PortConfig &port : fabric.ports) {
    const auto p = static_cast<std::uint32_t>(ports_.size());
    ports_.emplace_back(net, port, unit_, seed, p);
    ports_of_[port.node].push_back(p);
    if (scheduled_) {
      ports_.back().queues.resize(classes_.size() + (trim_bytes_ > 0));
      set_red(p, net.red);
    }
  }

  const std::size_t links = hosts + fabric.ports.size();
  link_node_.assign(fabric.uplink_node.begin(), fabric.uplink_node.end());
  link_node_.resize(links, 0);
  for (std::size_t p = 0; p < fabric.ports.size(); ++p)
    link_node_[hosts + p] = fabric.ports[p].next;
  if (lossless_) {
    held_.assign(links * classes_.size(), 0);
    told_.assign(links * classes_.size(), 0);
    shared_ = net.buffer_bytes - net.pfc_headroom_bytes;
  }
}

bool Fabric::enqueue_scheduled(Port &port, Ps now, Ingress from, Ps duration, Packet &packet) {
  if (packet.trimmed)
    return enqueue_header(port, now, from, packet);
  const Ps queue = port.backlog_of(from.klass, now);
  const bool trims = trim_bytes_ > 0 && packet.kind == PacketKind::data;
  const bool fits = (!trims || queue <= trim_bytes_ * port.ps_per_byte) && admits(port, now, queue, duration);
  if (!fits && trims) {
    trade_for_last(port, port.queues[from.klass], queue, packet);
    return enqueue_header(port, now, from, packet);
  }
  if (!fits)
    return false;
  if (!stamp_late_)
    mark(port, port.queues[from.klass].red, queue, packet);
  hold(port, from, duration, packet);
  port.longest = std::max(port.longest, port.backlog(now));
  return true;
}

// An even chance decides whether the packet that comes is trimmed or the last one that waits, as switches do
// in [NDP]: senders at line rate have one period, and without it the packets of some would always be those that meet
// the full queue.
void Fabric::trade_for_last(Port &port, ClassQueue &queue, Ps backlog, Packet &packet) {
  if (queue.packets.empty() || (port.random.next() & 1) == 0)
    return;
  Packet &last = queue.packets.back().packet;
  if (last.kind != PacketKind::data || last.wire_bytes != packet.wire_bytes)
    return;
  if (!stamp_late_)
    mark(port, queue.red, backlog, packet);
  std::swap(packet, last);
}

// A header, as long as a probe, goes before the packets that wait; it takes room in the buffer, and is dropped without.
bool Fabric::enqueue_header(Port &port, Ps now, Ingress from, Packet &packet) {
  const auto headers = static_cast<std::uint8_t>(classes_.size());
  const Ps duration = header_bytes_ * port.ps_per_byte;
  if (!admits(port, now, port.backlog_of(headers, now), duration))
    return false;
  telemetry_.give(packet.telemetry);
  packet.telemetry = 0;
  packet.trimmed = true;
  packet.wire_bytes = header_bytes_;
  hold(port, Ingress{from.link, headers}, duration, packet);
  return true;
}

void Fabric::hold(Port &port, Ingress from, Ps duration, const Packet &packet) {
  ClassQueue &queue = port.queues[from.klass];
  queue.packets.push(Held{packet, from.link});
  queue.waiting += duration;
  port.waiting += duration;
  if (lossless_) {
    std::int64_t &held = held_[account(from)];
    const std::int64_t before = std::max<std::int64_t>(held - reserve_, 0);
    held += packet.wire_bytes;
    shared_used_[port.node] += std::max<std::int64_t>(held - reserve_, 0) - before;
  }
}

bool Fabric::begin(Port &port, Ps now) {
  const int klass = port.pick(classes_, quantum_);
  if (klass < 0)
    return false;
  ClassQueue &queue = port.queues[static_cast<std::uint32_t>(klass)];
  Held held = queue.packets.front();
  Packet &packet = held.packet;
  queue.packets.pop();
  const Ps duration = packet.wire_bytes * port.ps_per_byte;
  queue.waiting -= duration;
  port.waiting -= duration;
  if (stamp_late_ && !packet.trimmed)
    mark(port, queue.red, queue.waiting, packet);
  if (packet.telemetry != 0) {
    telemetry_.stamp(packet.telemetry, Hop{now, port.begun_bytes, bytes_in(queue.waiting, port.ps_per_byte),
                                           static_cast<std::uint32_t>(port.ps_per_byte)});
  }
  port.begun_bytes += packet.wire_bytes;
  queue.begun.all += packet.wire_bytes;
  queue.begun.marked += packet.marked_here ? packet.wire_bytes : 0;
  port.busy = true;
  port.sending_bytes = packet.wire_bytes;
  port.sending_from = held.link;
  port.sending_class = static_cast<std::uint8_t>(klass);
  port.free_at = now + duration;
  packet.due = port.free_at + port.delay;
  port.link.push(packet);
  return true;
}

void Fabric::finish(Port &port) {
  port.busy = false;
  if (!lossless_)
    return;
  const std::int64_t size = port.sending_bytes;
  filled_[port.node] -= size * unit_;
  std::int64_t &held = held_[account({port.sending_from, port.sending_class})];
  const std::int64_t before = std::max<std::int64_t>(held - reserve_, 0);
  held -= size;
  shared_used_[port.node] -= before - std::max<std::int64_t>(held - reserve_, 0);
}

void Fabric::stamp_departed(Port &port, Packet &packet) {
  const Ps queue = port.behind_first();
  if (stamp_late_)
    mark(port, port.red, queue, packet);
  if (packet.telemetry != 0) {
    const Ps begin = packet.due - port.delay - packet.wire_bytes * port.ps_per_byte;
    telemetry_.stamp(packet.telemetry, Hop{begin, port.received_bytes, bytes_in(queue, port.ps_per_byte),
                                           static_cast<std::uint32_t>(port.ps_per_byte)});
  }
}

// Thresholds of the HPCC artefact: a link may hold its reserve and an eighth of what is free of the shared buffer.
bool Fabric::must_pause(Ingress from) {
  const std::size_t a = account(from);
  const std::int64_t used = held_[a] - reserve_;
  if (told_[a] || used <= (shared_ - shared_used_[link_node_[from.link]]) / 8)
    return false;
  told_[a] = 1;
  return true;
}

bool Fabric::may_resume(Ingress from) {
  const std::size_t a = account(from);
  const std::int64_t used = held_[a] - reserve_;
  if (!told_[a] || (used > 0 && used + resume_ > (shared_ - shared_used_[link_node_[from.link]]) / 8))
    return false;
  told_[a] = 0;
  return true;
}

} // namespace netsim

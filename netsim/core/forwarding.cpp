#include "forwarding.hpp"

#include <algorithm>

#include "check.hpp"
#include "pausing.hpp"
#include "prefetch.hpp"

namespace netsim {

Forwarding::Forwarding(Network &network, Receiving &receivers, Pausing &pausing, const RoutingConfig &routing,
                       std::uint64_t seed)
    : n_(network), receivers_(receivers), pausing_(pausing), routing_(network, routing, seed),
      policers_(network.net.policer_ps_per_byte > 0 ? network.scenario.receivers : 0,
                Policer(network.net.policer_ps_per_byte, network.net.policer_burst_bytes)),
      lookahead_(network.shortest_way_back()), events_(2 + 2 * network.fabric.ports().size()),
      arrivals_(network.scenario.receivers, false) {
  set_change();
}

void Forwarding::catch_up(Ps until) {
  if (until <= done_)
    return;
  n_.uplinks.enter();
  check(first() >= done_, "time went back at the switches");
  done_ = until;
  const Streams &streams = n_.loop.streams;
  const std::uint64_t end = event_key(until, 0);
  for (;;) {
    const std::uint64_t uplink = n_.uplinks.first();
    const std::uint64_t key = events_.first();
    if (std::min(uplink, key) >= end)
      break;
    if (uplink < key) {
      if (key_time(uplink) >= n_.fabric.full().until || !lose_refused(std::min(key, end)))
        on_uplink();
      continue;
    }
    last_ = std::max(last_, key_time(key));
    const Ps now = key_time(key);
    const std::uint32_t stream = key_stream(key);
    if (stream >= streams.links)
      on_link(now, stream - streams.links);
    else if (stream >= streams.transmitters)
      on_transmitted(now, stream - streams.transmitters);
    else if (stream == streams.changes)
      on_change(now);
    else
      pausing_.on_port_frame(now);
  }
  receivers_.begin();
  arrivals_.take(until, [this, until](std::uint32_t port) { on_arrivals(port, until); });
  receivers_.end();
}

// The only switch is full: data packets are lost that come before it has room and before `end`. Returns whether any
// was. Not where links fail, which makes room.
bool Forwarding::lose_refused(std::uint64_t end) {
  const Fabric::Full &full = n_.fabric.full();
  if (routing_.on())
    return false;
  const bool alone = n_.fabric.ports().size() == 1 && n_.shares.empty();
  std::uint64_t lost = 0; // at the only port
  const Ps last = n_.uplinks.lose(std::min(event_key(full.until, 0), end), full.bytes, [&](std::uint32_t flow) {
    if (alone)
      ++lost;
    else
      lose_data(n_.scenario.routes[n_.routes[flow].first], flow);
  });
  n_.counters.data_dropped += lost;
  n_.fabric.port(0).dropped += lost;
  last_ = std::max(last_, last);
  return last > 0;
}

void Forwarding::on_uplink() {
  const Burst &burst = n_.uplinks.front();
  const Ps now = burst.arrival;
  last_ = std::max(last_, now);
  const std::uint32_t flow = burst.flow;
  const Ingress from{burst.host, burst.klass};
  Packet packet{};
  packet.flow = flow;
  packet.klass = burst.klass;
  if (burst.packets > 0) {
    const bool last = burst.packets == 1;
    packet.psn = burst.psn;
    packet.wire_bytes = last ? burst.last_bytes : static_cast<std::uint16_t>(n_.net.data_wire_bytes);
    packet.ack = burst.ack_each || (last && burst.ack_last);
    if (last)
      prefetch(n_.routes[n_.uplinks.ahead().flow]);
    if (n_.stamps(flow))
      packet.telemetry = n_.fabric.telemetry().take();
  } else {
    packet.kind = PacketKind::probe;
    packet.psn = burst.probe_serial;
    packet.wire_bytes = static_cast<std::uint16_t>(n_.net.probe_wire_bytes);
  }
  n_.uplinks.pop();
  packet.sent_at = now - n_.uplink_delay - packet.wire_bytes * n_.net.ps_per_byte;
  if (routing_.on())
    return leave(now, n_.fabric.end_of(from.link), from, packet);
  forward(now, n_.scenario.routes[n_.routes[flow].first], from, packet);
}

void Forwarding::leave(Ps now, std::uint32_t at, Ingress from, Packet &packet) {
  const std::uint32_t p = routing_.next(packet.flow, packet.sent_at, at);
  if (p != Routing::kNowhere && n_.fabric.port(p).up)
    return forward(now, p, from, packet);
  lose(p, packet);
}

// On no port, where none leads to its receiver.
void Forwarding::lose(std::uint32_t p, const Packet &packet) {
  n_.fabric.telemetry().give(packet.telemetry);
  if (packet.kind == PacketKind::data)
    lose_data(p, packet.flow);
  else
    ++n_.counters.probes_dropped;
}

void Forwarding::lose_data(std::uint32_t p, std::uint32_t flow) {
  ++n_.counters.data_dropped;
  if (p != Routing::kNowhere)
    ++n_.fabric.port(p).dropped;
  if (!n_.shares.empty())
    ++n_.shares[n_.receivers[flow].cohort].dropped;
}

void Forwarding::on_change(Ps now) {
  const LinkChange &change = routing_.change();
  for (const std::uint32_t p : change.down) {
    Port &port = n_.fabric.port(p);
    n_.fabric.fail(port, now, [&](const Packet &packet) { lose(p, packet); });
    set_link(p, port.link);
    events_.set(1 + p, kNever);
  }
  for (const std::uint32_t p : change.up)
    n_.fabric.port(p).up = true;
  set_change();
}

void Forwarding::set_change() {
  const Ps at = routing_.next_change();
  events_.set(1 + 2 * n_.fabric.ports().size(), at == kLatest ? kNever : event_key(at, n_.loop.streams.changes));
}

// A packet has come to a switch and is to leave it by `port`.
void Forwarding::forward(Ps now, std::uint32_t p, Ingress from, Packet &packet) {
  Port &port = n_.fabric.port(p);
  if (packet.kind == PacketKind::probe && n_.net.queue_in_probes) {
    // The queue it meets, as bytes of the NIC's line time; that of the most congested port counts. Older probes may be
    // under way: of them counts what they meet since the last one was sent. Where routes move, the switches had caught
    // up by then.
    const auto queue = bytes_in(port.backlog(now), n_.net.ps_per_byte);
    Sender &s = n_.senders[packet.flow];
    if (packet.psn == s.probe_serial || now > n_.probe_began[packet.flow] || routing_.on())
      s.probe_queue_bytes = std::max(s.probe_queue_bytes, queue);
  }
  const bool first = port.link.empty(), whole = !packet.trimmed;
  if (!n_.fabric.enqueue(p, now, from, packet)) {
    check(!n_.fabric.lossless(), "a lossless switch dropped a packet");
    return lose(p, packet);
  }
  if (!n_.fabric.scheduled()) {
    if (first)
      set_link(p, port.link);
    return;
  }
  n_.counters.trimmed += whole && packet.trimmed;
  if (!port.busy)
    transmit(now, p);
  if (n_.fabric.lossless() && n_.fabric.must_pause(from))
    pausing_.tell(now, from, true);
}

// Scheduled ports: begin to send what the port picks, if there is anything.
void Forwarding::transmit(Ps now, std::uint32_t p) {
  Port &port = n_.fabric.port(p);
  const bool idle = port.link.empty();
  if (!n_.fabric.begin(port, now)) {
    events_.set(1 + p, kNever);
    return;
  }
  events_.set(1 + p, event_key(port.free_at, n_.loop.streams.transmitters + p));
  if (idle)
    set_link(p, port.link);
}

void Forwarding::on_transmitted(Ps now, std::uint32_t p) {
  Port &port = n_.fabric.port(p);
  n_.fabric.finish(port);
  const Ingress from{port.sending_from, port.sending_class};
  transmit(now, p);
  if (n_.fabric.lossless() && n_.fabric.may_resume(from))
    pausing_.tell(now, from, false);
}

// The first on a port's link competes.
void Forwarding::set_link(std::uint32_t p, const Ring<Packet> &link) {
  if (p < n_.scenario.receivers)
    return arrivals_.set(p, link.empty() ? kLatest : link.front().due);
  events_.set(1 + n_.fabric.ports().size() + p,
              link.empty() ? kNever : event_key(link.front().due, n_.loop.streams.links + p));
}

Packet &Forwarding::first(Port &port) {
  Packet &packet = port.link.front();
  n_.fabric.left(port, packet);
  return packet;
}

void Forwarding::pop(Port &port) {
  port.link.pop();
  port.came -= port.came > 0;
}

void Forwarding::on_link(Ps now, std::uint32_t p) {
  Port &port = n_.fabric.port(p);
  Packet packet = first(port);
  pop(port);
  set_link(p, port.link);
  check(port.up, "a packet came over a link that had failed");
  const Route &route = n_.routes[packet.flow];
  ++packet.hop;
  packet.marked_here = false;
  const std::uint32_t link = n_.scenario.hosts + p;
  if (routing_.on())
    return leave(now, n_.fabric.end_of(link), Ingress{link, packet.klass}, packet);
  check(packet.hop < route.hops, "a path ends where no receiver is");
  forward(now, n_.scenario.routes[route.first + packet.hop], Ingress{link, packet.klass}, packet);
}

// Those before `until`.
void Forwarding::on_arrivals(std::uint32_t p, Ps until) {
  Port &port = n_.fabric.port(p);
  Ring<Packet> &link = port.link;
  Ps now = 0;
  for (; !link.empty() && link.front().due < until; pop(port)) {
    prefetch(n_.receivers[link.ahead(4).flow]);
    const Packet &packet = first(port);
    now = packet.due;
    if (policers_.empty() || policers_[p].admits(now, packet.wire_bytes - kPreambleAndGap))
      receivers_.receive(now, packet);
    else
      lose(p, packet);
  }
  arrived_ = std::max(arrived_, now);
  set_link(p, link);
}

} // namespace netsim

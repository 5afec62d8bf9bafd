#include "forwarding.hpp"

#include <algorithm>

#include "check.hpp"
#include "pausing.hpp"

namespace netsim {

void Forwarding::on_uplink(Ps now, std::uint32_t host) {
  Nic &nic = n_.nics[host];
  Burst &burst = nic.uplink.front();
  const Route &route = n_.routes[burst.flow];
  Ps next = 0;
  Packet packet{};
  packet.flow = burst.flow;
  packet.psn = burst.psn;
  if (burst.packets > 0) {
    --burst.packets;
    ++burst.psn;
    const bool last = burst.packets == 0;
    packet.wire_bytes = last ? burst.last_bytes : static_cast<std::uint16_t>(n_.net.data_wire_bytes);
    packet.ack = burst.ack_each || (last && burst.ack_last);
    if (!last) {
      next = now + (burst.packets > 1 ? n_.data_ps : burst.last_bytes * n_.net.ps_per_byte);
    } else if (burst.probe_serial != 0) {
      next = now + n_.probe_ps;
    }
    if (n_.net.telemetry)
      packet.telemetry = n_.fabric.telemetry().take();
  } else {
    packet.kind = PacketKind::probe;
    packet.psn = burst.probe_serial;
    packet.wire_bytes = static_cast<std::uint16_t>(n_.net.probe_wire_bytes);
  }
  packet.sent_at = now - n_.uplink_delay - packet.wire_bytes * n_.net.ps_per_byte;
  if (next == 0) {
    nic.uplink.pop();
    n_.loop.follow(n_.loop.streams.uplinks + host, nic.uplink, &Burst::arrival);
  } else {
    burst.arrival = next;
    n_.loop.set(n_.loop.streams.uplinks + host, next);
  }
  forward(now, n_.scenario.routes[route.first], Ingress{host, route.klass}, packet);
}

// A packet has come to a switch and is to leave it by `port`.
void Forwarding::forward(Ps now, std::uint32_t p, Ingress from, Packet &packet) {
  Port &port = n_.fabric.port(p);
  if (packet.kind == PacketKind::probe && n_.net.queue_in_probes) {
    // The queue it meets, as bytes of the NIC's line time; that of the most congested port counts.
    const auto queue = static_cast<std::uint32_t>(port.backlog(now) / n_.net.ps_per_byte);
    std::uint32_t &most = n_.senders[packet.flow].probe_queue_bytes;
    most = std::max(most, queue);
  }
  const bool first = port.link.empty();
  if (!n_.fabric.enqueue(p, now, from, packet)) {
    check(!n_.fabric.lossless(), "a lossless switch dropped a packet");
    n_.fabric.telemetry().give(packet.telemetry);
    if (packet.kind == PacketKind::data) {
      ++n_.counters.data_dropped;
      ++port.dropped;
    } else {
      ++n_.counters.probes_dropped;
    }
    return;
  }
  if (!n_.fabric.scheduled()) {
    if (first)
      n_.loop.set(n_.loop.streams.links + p, packet.due);
    return;
  }
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
    n_.loop.clear(n_.loop.streams.transmitters + p);
    return;
  }
  n_.loop.set(n_.loop.streams.transmitters + p, port.free_at);
  if (idle)
    n_.loop.set(n_.loop.streams.links + p, port.link.front().due);
}

void Forwarding::on_transmitted(Ps now, std::uint32_t p) {
  Port &port = n_.fabric.port(p);
  n_.fabric.finish(port);
  const Ingress from{port.sending_from, port.sending_class};
  transmit(now, p);
  if (n_.fabric.lossless() && n_.fabric.may_resume(from))
    pausing_.tell(now, from, false);
}

void Forwarding::on_link(Ps now, std::uint32_t p) {
  Port &port = n_.fabric.port(p);
  n_.fabric.left(port, port.link.front());
  Packet packet = port.link.front();
  port.link.pop();
  port.came -= port.came > 0;
  n_.loop.follow(n_.loop.streams.links + p, port.link, &Packet::due);

  const Route &route = n_.routes[packet.flow];
  if (++packet.hop < route.hops) {
    const Ingress from{n_.scenario.hosts + p, route.klass};
    packet.marked_here = false;
    return forward(now, n_.scenario.routes[route.first + packet.hop], from, packet);
  }
  receivers_.receive(now, packet);
}

} // namespace netsim

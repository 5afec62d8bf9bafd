// From the uplink through the switches to the receiver, and what the receiver sends back.
#include "simulator.hpp"

#include <algorithm>

namespace netsim {

void Simulator::on_uplink(Ps now, std::uint32_t host) {
  Nic &nic = nics_[host];
  Burst &burst = nic.uplink.front();
  const Route &route = routes_[burst.flow];
  Ps next = 0;
  Packet packet{};
  packet.flow = burst.flow;
  packet.psn = burst.psn;
  if (burst.packets > 0) {
    --burst.packets;
    ++burst.psn;
    const bool last = burst.packets == 0;
    packet.wire_bytes = last ? burst.last_bytes : static_cast<std::uint16_t>(net_.data_wire_bytes);
    packet.ack = burst.ack_each || (last && burst.ack_last);
    if (!last) {
      next = now + (burst.packets > 1 ? data_ps_ : burst.last_bytes * net_.ps_per_byte);
    } else if (burst.probe_serial != 0) {
      next = now + probe_ps_;
    }
    if (net_.telemetry)
      packet.telemetry = fabric_.telemetry().take();
  } else {
    packet.kind = PacketKind::probe;
    packet.psn = burst.probe_serial;
    packet.wire_bytes = static_cast<std::uint16_t>(net_.probe_wire_bytes);
  }
  packet.sent_at = now - uplink_delay_ - packet.wire_bytes * net_.ps_per_byte;
  if (next == 0) {
    nic.uplink.pop();
    events_.set(uplinks_ + host, nic.uplink.empty() ? kNever : event_key(nic.uplink.front().arrival, uplinks_ + host));
  } else {
    burst.arrival = next;
    events_.set(uplinks_ + host, event_key(next, uplinks_ + host));
  }
  forward(now, scenario_.routes[route.first], Ingress{host, route.klass}, packet);
}

// A packet has come to a switch and is to leave it by `port`.
void Simulator::forward(Ps now, std::uint32_t p, Ingress from, Packet &packet) {
  Port &port = fabric_.port(p);
  if (packet.kind == PacketKind::probe && net_.queue_in_probes) {
    // The queue it meets, as bytes of the NIC's line time; that of the most congested port counts.
    const auto queue = static_cast<std::uint32_t>(port.backlog(now) / net_.ps_per_byte);
    std::uint32_t &most = senders_[packet.flow].probe_queue_bytes;
    most = std::max(most, queue);
  }
  const bool first = port.link.empty();
  if (!fabric_.enqueue(p, now, from, packet)) {
    check(!fabric_.lossless(), "a lossless switch dropped a packet");
    fabric_.telemetry().give(packet.telemetry);
    if (packet.kind == PacketKind::data) {
      ++counters_.data_dropped;
      ++port.dropped;
    } else {
      ++counters_.probes_dropped;
    }
    return;
  }
  if (!fabric_.scheduled()) {
    if (first)
      events_.set(links_ + p, event_key(packet.due, links_ + p));
    return;
  }
  if (!port.busy)
    transmit(now, p);
  if (fabric_.lossless() && fabric_.must_pause(from))
    tell(now, from, true);
}

// Scheduled ports: begin to send what the port picks, if there is anything.
void Simulator::transmit(Ps now, std::uint32_t p) {
  Port &port = fabric_.port(p);
  const bool idle = port.link.empty();
  if (!fabric_.begin(port, now)) {
    events_.set(transmitters_ + p, kNever);
    return;
  }
  events_.set(transmitters_ + p, event_key(port.free_at, transmitters_ + p));
  if (idle)
    events_.set(links_ + p, event_key(port.link.front().due, links_ + p));
}

void Simulator::on_transmitted(Ps now, std::uint32_t p) {
  Port &port = fabric_.port(p);
  fabric_.finish(port);
  const Ingress from{port.sending_from, port.sending_class};
  transmit(now, p);
  if (fabric_.lossless() && fabric_.may_resume(from))
    tell(now, from, false);
}

// A PFC frame to the transmitter of a link: it takes the link's delay and waits for nothing.
void Simulator::tell(Ps now, Ingress from, bool on) {
  pauses_.push(Pause{now + link_delay_[from.link], from.link, from.klass, on, told_pauses_++});
  counters_.pauses += on;
  events_.set(pauses_stream_, event_key(pauses_.top().arrival, pauses_stream_));
}

void Simulator::on_pause(Ps now) {
  const Pause pause = pauses_.top();
  pauses_.pop();
  events_.set(pauses_stream_, pauses_.empty() ? kNever : event_key(pauses_.top().arrival, pauses_stream_));

  Ps &since = paused_since_[pause.link * net_.classes.size() + pause.klass];
  if (!pause.on)
    counters_.paused_ps += static_cast<std::uint64_t>(now - since);
  since = pause.on ? now : -1;
  const auto bit = static_cast<std::uint8_t>(1U << pause.klass);
  const bool nic = pause.link < scenario_.hosts;
  std::uint8_t &paused = nic ? nics_[pause.link].paused : fabric_.port(pause.link - scenario_.hosts).paused;
  check((paused & bit) == 0 ? pause.on : !pause.on, "a pause came out of order");
  paused = static_cast<std::uint8_t>(pause.on ? paused | bit : paused & ~bit);
  if (nic)
    return schedule_nic(pause.link);
  const std::uint32_t p = pause.link - scenario_.hosts;
  if (!fabric_.port(p).busy)
    transmit(now, p);
}

void Simulator::on_link(Ps now, std::uint32_t p) {
  Port &port = fabric_.port(p);
  fabric_.left(port, port.link.front());
  Packet packet = port.link.front();
  port.link.pop();
  port.came -= port.came > 0;
  events_.set(links_ + p, port.link.empty() ? kNever : event_key(port.link.front().due, links_ + p));

  const Route &route = routes_[packet.flow];
  if (++packet.hop < route.hops) {
    const Ingress from{scenario_.hosts + p, route.klass};
    return forward(now, scenario_.routes[route.first + packet.hop], from, packet);
  }
  if (packet.kind == PacketKind::probe) {
    ++counters_.probes_arrived;
    send_control(now, packet.flow, ControlKind::response, packet.psn);
  } else {
    deliver(now, packet);
  }
}

void Simulator::deliver(Ps now, const Packet &packet) {
  Receiver &r = receivers_[packet.flow];
  const Ps latency = now - packet.sent_at;
  Ps base = r.base_latency;
  if (packet.wire_bytes < net_.data_wire_bytes)
    base -= short_packet_saves(packet);
  ++counters_.data_arrived;
  counters_.wait_ps += static_cast<std::uint64_t>(latency - base);
  counters_.latency_ps += static_cast<std::uint64_t>(latency);
  window_.latency.add(latency);
  check(latency >= base, "a packet was faster than its path");
  check(packet.sent_at > r.last_sent_at, "packets of a flow overtook one another");
  if constexpr (kChecked)
    r.last_sent_at = packet.sent_at;

  if (packet.psn == r.expected_psn) {
    ++r.expected_psn;
    ++counters_.data_in_order;
    r.nacked = false;
    if (packet.ack)
      send_ack(now, packet, r.expected_psn);
    else
      fabric_.telemetry().give(packet.telemetry);
  } else if (packet.psn > r.expected_psn) {
    // The first packet after a gap is reported; so is the next if the sender has gone back and it is lost again.
    if (!r.nacked || packet.psn <= r.gap_psn)
      send_control(now, packet.flow, ControlKind::nack, r.expected_psn);
    r.nacked = true;
    r.gap_psn = packet.psn;
    fabric_.telemetry().give(packet.telemetry);
  } else if (packet.ack) {
    send_ack(now, packet, r.expected_psn);
  } else {
    fabric_.telemetry().give(packet.telemetry);
  }
  if (packet.marked) {
    ++counters_.marked;
    if (net_.send_cnps && now >= r.cnp_at) {
      r.cnp_at = now + net_.cnp_interval;
      send_control(now, packet.flow, ControlKind::cnp, 0);
    }
  }
}

// What a data packet that is shorter than the others gains on its path.
Ps Simulator::short_packet_saves(const Packet &packet) const {
  const Route &route = routes_[packet.flow];
  Ps ps_per_byte = net_.ps_per_byte;
  for (std::uint32_t h = 0; h < route.hops; ++h)
    ps_per_byte += fabric_.ports()[scenario_.routes[route.first + h]].ps_per_byte;
  return (net_.data_wire_bytes - packet.wire_bytes) * ps_per_byte;
}

void Simulator::send_ack(Ps now, const Packet &packet, std::uint32_t expected) {
  push_control(Control{now, packet.sent_at, packet.flow, expected, packet.telemetry, ControlKind::ack, packet.marked});
}

void Simulator::send_control(Ps now, std::uint32_t flow, ControlKind kind, std::uint32_t value) {
  push_control(Control{now, 0, flow, value, 0, kind, false});
}

// Onto the way back of the flow.
void Simulator::push_control(Control control) {
  const std::uint32_t way = routes_[control.flow].control;
  control.arrival += scenario_.control_delays[way];
  if (control_[way].empty())
    events_.set(kControl + way, event_key(control.arrival, kControl + way));
  control_[way].push(control);
}

} // namespace netsim

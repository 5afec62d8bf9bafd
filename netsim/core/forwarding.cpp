// From the uplink through the switch to the receiver, and what the receiver sends back.
#include "simulator.hpp"

namespace netsim {

void Simulator::on_uplink(Ps now, std::uint32_t host) {
  Nic &nic = nics_[host];
  Burst &burst = nic.uplink.front();
  const std::uint32_t port = senders_[burst.flow].port;
  Ps next = 0;
  Packet packet{0, burst.flow, burst.psn, 0, PacketKind::data, false, false};
  Ps duration = data_ps_;
  if (burst.packets > 0) {
    --burst.packets;
    ++burst.psn;
    packet.ack = burst.packets == 0 && burst.ack != 0;
    if (burst.packets > 0) {
      next = now + data_ps_;
    } else if (burst.probe_serial != 0) {
      next = now + probe_ps_;
    }
  } else {
    packet.kind = PacketKind::probe;
    packet.psn = burst.probe_serial;
    duration = probe_ps_;
    senders_[burst.flow].probe_queue_bytes = static_cast<std::uint32_t>(switch_.backlog(port, now) / net_.ps_per_byte);
  }
  if (next == 0) {
    nic.uplink.pop();
    events_.set(uplinks_ + host, nic.uplink.empty() ? kNever : event_key(nic.uplink.front().arrival, uplinks_ + host));
  } else {
    burst.arrival = next;
    events_.set(uplinks_ + host, event_key(next, uplinks_ + host));
  }

  const bool first = switch_.port(port).queue.empty();
  if (!switch_.enqueue(port, now, duration, packet)) {
    ++(packet.kind == PacketKind::data ? counters_.data_dropped : counters_.probes_dropped);
  } else if (first) {
    events_.set(kPorts + port, event_key(packet.delivery, kPorts + port));
  }
}

void Simulator::on_port(Ps now, std::uint32_t port) {
  Ring<Packet> &queue = switch_.port(port).queue;
  const Packet packet = queue.front();
  queue.pop();
  events_.set(kPorts + port, queue.empty() ? kNever : event_key(queue.front().delivery, kPorts + port));
  if (packet.kind == PacketKind::probe) {
    switch_.port(port).received_bytes += net_.probe_wire_bytes;
    ++counters_.probes_arrived;
    send_control(now, packet.flow, ControlKind::response, packet.psn);
  } else {
    switch_.port(port).received_bytes += net_.data_wire_bytes;
    deliver(now, packet);
  }
}

void Simulator::deliver(Ps now, const Packet &packet) {
  ++counters_.data_arrived;
  counters_.wait_ps += packet.wait_ps;
  window_.latency.add(one_way_base() + packet.wait_ps);

  Receiver &r = receivers_[packet.flow];
  if (packet.psn == r.expected_psn) {
    ++r.expected_psn;
    ++counters_.data_in_order;
    r.nacked = false;
    if (packet.ack)
      send_control(now, packet.flow, ControlKind::ack, r.expected_psn);
  } else if (packet.psn > r.expected_psn) {
    // The first packet after a gap is reported; so is the next if the sender has gone back and it is lost again.
    if (!r.nacked || packet.psn <= r.gap_psn)
      send_control(now, packet.flow, ControlKind::nack, r.expected_psn);
    r.nacked = true;
    r.gap_psn = packet.psn;
  } else if (packet.ack) {
    send_control(now, packet.flow, ControlKind::ack, r.expected_psn);
  }
  if (packet.marked) {
    ++counters_.marked;
    if (now >= r.cnp_at) {
      r.cnp_at = now + net_.cnp_interval;
      send_control(now, packet.flow, ControlKind::cnp, 0);
    }
  }
}

void Simulator::send_control(Ps now, std::uint32_t flow, ControlKind kind, std::uint32_t value) {
  if (control_.empty())
    events_.set(kControl, event_key(now + net_.control_delay, kControl));
  control_.push(Control{now + net_.control_delay, flow, value, kind});
}

} // namespace netsim

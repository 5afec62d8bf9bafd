#include "receiving.hpp"

#include "check.hpp"

namespace netsim {

void Receiving::begin() {
  for (std::size_t way = 0; way < known_.size(); ++way)
    known_[way] = n_.control[way].size();
}

void Receiving::end() {
  for (std::size_t way = 0; way < known_.size(); ++way) {
    Ring<Control> &controls = n_.control[way];
    if (mixed_[way] != 0) {
      sent_.clear();
      for (std::size_t i = known_[way]; i < controls.size(); ++i)
        sent_.push_back(controls[i]);
      std::size_t i = known_[way];
      for (const TimeOrder::Place &place :
           order_(sent_.size(), [this](std::size_t j) { return static_cast<std::uint64_t>(sent_[j].arrival); }))
        controls[i++] = sent_[place.index];
      mixed_[way] = 0;
    }
    n_.loop.follow(n_.loop.streams.control + static_cast<std::uint32_t>(way), controls, &Control::arrival);
  }
}

void Receiving::receive(Ps now, const Packet &packet) {
  if (packet.kind == PacketKind::data)
    return packet.trimmed ? refuse(now, packet) : deliver(now, packet);
  ++n_.counters.probes_arrived;
  send(now, packet.flow, ControlKind::response, packet.psn);
}

// The header alone of a packet tells its sender to repeat it.
void Receiving::refuse(Ps now, const Packet &packet) {
  ++n_.counters.headers;
  send(now, packet.flow, ControlKind::trim, packet.psn);
}

void Receiving::deliver(Ps now, const Packet &packet) {
  Receiver &r = n_.receivers[packet.flow];
  const Ps latency = now - packet.sent_at;
  Ps base = r.base_latency;
  if (packet.wire_bytes < n_.net.data_wire_bytes)
    base -= short_packet_saves(packet);
  ++n_.counters.data_arrived;
  n_.counters.wait_ps += static_cast<std::uint64_t>(latency - base);
  n_.counters.latency_ps += static_cast<std::uint64_t>(latency);
  n_.window.latency.add(latency);
  if (!n_.shares.empty())
    n_.shares[r.cohort].arrive(latency);
  check(latency >= base || r.overtakes, "a packet was faster than its path");
  check(packet.sent_at > r.last_sent_at || r.overtakes, "packets of a flow overtook one another");
  if constexpr (kChecked)
    r.last_sent_at = packet.sent_at;

  if (packet.psn == r.expected_psn) {
    bool ack = packet.ack;
    do {
      ++r.expected_psn;
      ++n_.counters.data_in_order;
    } while (n_.reorder.take(packet.flow, r.expected_psn, ack));
    r.nacked = false;
    if (ack)
      send_ack(now, packet, r.expected_psn);
    else
      n_.fabric.telemetry().give(packet.telemetry);
  } else if (packet.psn > r.expected_psn && n_.net.ends[r.cohort].selective_repeat) {
    check(n_.reorder.holds(packet.psn - r.expected_psn), "a packet came that no receiver holds");
    n_.reorder.hold(packet.flow, packet.psn, packet.ack);
    send_ack(now, packet, r.expected_psn);
  } else if (packet.psn > r.expected_psn && packet.psn - r.expected_psn < n_.net.reorder_packets) {
    n_.reorder.hold(packet.flow, packet.psn, packet.ack);
    r.marked |= packet.marked;
    n_.fabric.telemetry().give(packet.telemetry);
  } else if (packet.psn > r.expected_psn) {
    // The first packet after a gap is reported; so is the next if the sender has gone back and it is lost again.
    if (!r.nacked || packet.psn <= r.gap_psn)
      send(now, packet.flow, ControlKind::nack, r.expected_psn);
    r.nacked = true;
    r.gap_psn = packet.psn;
    n_.fabric.telemetry().give(packet.telemetry);
  } else if (packet.ack) {
    send_ack(now, packet, r.expected_psn);
  } else {
    n_.fabric.telemetry().give(packet.telemetry);
  }
  if (packet.marked) {
    ++n_.counters.marked;
    const Ends &ends = n_.net.ends[r.cohort];
    if (ends.send_cnps && now >= r.cnp_at) {
      r.cnp_at = now + ends.cnp_interval;
      send(now, packet.flow, ControlKind::cnp, 0);
    }
  }
}

// What a data packet that is shorter than the others gains on its path.
Ps Receiving::short_packet_saves(const Packet &packet) const {
  const Route &route = n_.routes[packet.flow];
  Ps ps_per_byte = n_.net.ps_per_byte;
  for (std::uint32_t h = 0; h < route.hops; ++h)
    ps_per_byte += n_.port_of(route, h).ps_per_byte;
  return (n_.net.data_wire_bytes - packet.wire_bytes) * ps_per_byte;
}

void Receiving::send_ack(Ps now, const Packet &packet, std::uint32_t expected) {
  Control &ack = send_back(now, packet.flow);
  ack.kind = ControlKind::ack;
  ack.value = expected;
  ack.sent_at = packet.sent_at;
  ack.telemetry = packet.telemetry;
  ack.beyond = static_cast<std::uint16_t>(packet.psn > expected ? packet.psn - expected : 0);
  Receiver &r = n_.receivers[packet.flow];
  ack.marked = packet.marked || r.marked;
  r.marked = false;
}

void Receiving::send(Ps now, std::uint32_t flow, ControlKind kind, std::uint32_t value) {
  Control &control = send_back(now, flow);
  control.kind = kind;
  control.value = value;
  control.sent_at = 0;
  control.telemetry = 0;
  control.beyond = 0;
  control.marked = false;
}

Control &Receiving::send_back(Ps now, std::uint32_t flow) {
  const std::uint32_t way = n_.routes[flow].control;
  const Ps arrival = now + n_.scenario.control_delays[way];
  Ring<Control> &controls = n_.control[way];
  mixed_[way] |= controls.size() > known_[way] && arrival < controls.back().arrival;
  Control &control = controls.add();
  control.arrival = arrival;
  control.flow = flow;
  return control;
}

} // namespace netsim

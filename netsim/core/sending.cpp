// The sender's side: pacing and bursts at the NIC, what ACKs, NACKs and CNPs do.
#include "simulator.hpp"

#include <algorithm>
#include <cmath>

namespace netsim {

Ps Simulator::pace_gap(const Sender &s) const {
  return static_cast<Ps>(std::min(s.last_burst_ps / s.rate, static_cast<double>(kLatest / 2)));
}

// When the burst after the one that began at `begin` may leave.
Ps Simulator::next_send(std::uint32_t flow, const Sender &s, Ps begin) {
  return timed_ ? baseline_->next_send(flow, begin, s.last_burst_ps) : begin + pace_gap(s);
}

// When a queue pair may send next: by its pace; never while blocked, unless an ACK can time out.
void Simulator::schedule(Sender &s) {
  std::uint64_t key = kNever;
  if (s.active) {
    if (!s.blocked()) {
      key = event_key(std::min(s.pace_at, kLatest), s.qp);
    } else if (s.ack_awaited()) {
      key = event_key(s.timed_at + net_.retransmit_timeout, s.qp);
    }
  }
  nics_[s.host].due[s.klass].set(s.qp, key);
  schedule_nic(s.host);
}

// Not in the past, where a higher rate may put a flow's turn, or a pause that has ended.
void Simulator::schedule_nic(std::uint32_t host) {
  const Ps next = std::max(nics_[host].next(), now_);
  events_.set(nics_first_ + host, next >= kLatest ? kNever : event_key(next, nics_first_ + host));
}

// A baseline's word: its rate and window hold from now on.
void Simulator::steer(std::uint32_t flow, const Pace &pace, bool was_blocked) {
  Sender &s = senders_[flow];
  s.rate = pace.rate;
  s.window = window_packets(pace.window);
  s.pace_at = next_send(flow, s, s.pace_base);
  if (was_blocked)
    s.pace_at = std::max(s.pace_at, now_); // no credit for the time it was blocked
  schedule(s);
  if (static_cast<std::int64_t>(flow) == scenario_.long_flow)
    long_flow_rate(now_, rate_of(flow));
}

// A window of the algorithm's own stands in the place of the NIC's cap.
std::uint32_t Simulator::window_packets(double window) const {
  if (std::isinf(window))
    return net_.inflight_packets;
  return static_cast<std::uint32_t>(std::clamp(window, 1.0, 1e9));
}

void Simulator::on_nic(Ps now, std::uint32_t host) {
  Nic &nic = nics_[host];
  const std::uint32_t flow = nic.first_flow + key_stream(nic.first());
  Sender &s = senders_[flow];

  if (s.ack_awaited() && now >= s.timed_at + net_.retransmit_timeout) {
    ++counters_.timeouts;
    s.go_back(s.acked_psn, now);
    s.pace_at = std::max(s.pace_at, now);
    if (baseline_ != nullptr)
      steer(flow, baseline_->on_loss(flow, now), true);
  }
  if (s.blocked() || s.pace_at > now)
    return schedule(s);

  const std::uint32_t packets = s.burst_room(net_);
  Burst burst{};
  burst.flow = flow;
  burst.psn = s.next_psn;
  burst.packets = static_cast<std::uint16_t>(packets);
  burst.ack_each = net_.ack_each_packet;
  s.next_psn += packets;
  const bool last = s.next_psn == s.end_psn;
  burst.last_bytes = last ? scenario_.flows[flow].last_wire_bytes : static_cast<std::uint16_t>(net_.data_wire_bytes);
  const Ps last_ps = burst.last_bytes * net_.ps_per_byte;
  const Ps duration = (packets - 1) * data_ps_ + last_ps;
  burst.arrival = now + (packets > 1 ? data_ps_ : last_ps) + uplink_delay_;

  if (last || (s.next_psn - s.start_psn) % net_.message_packets == 0 || burst.ack_each) {
    burst.ack_last = true;
    if (!s.ack_awaited())
      s.timed_at = now;
    s.asked_psn = s.next_psn;
  }
  s.sent_bytes += packets * net_.payload_bytes - (net_.data_wire_bytes - burst.last_bytes);
  s.sent_total += packets;
  counters_.data_sent += packets;

  nic.free_at = now + duration;
  if (probes_ && (s.probe_outstanding ? now - s.probe_sent_at > net_.probe_timeout : nic.free_at >= s.probe_at)) {
    s.probe_outstanding = true;
    s.probe_sent_at = nic.free_at;
    s.probe_queue_bytes = 0;
    burst.probe_serial = ++s.probe_serial;
    nic.free_at += probe_ps_;
    ++counters_.probes_sent;
  }

  // A queue pair may make up for time it waited while others were served, but for one gap at the most.
  s.last_burst_ps = static_cast<std::uint32_t>(duration);
  if (baseline_ != nullptr)
    baseline_->on_sent(flow, now, static_cast<std::uint32_t>(duration / net_.ps_per_byte));
  if (timed_ && static_cast<std::int64_t>(flow) == scenario_.long_flow)
    long_flow_rate(now, rate_of(flow));
  const Ps gap = next_send(flow, s, now) - now;
  s.pace_base = std::max(s.pace_at, now - gap);
  s.pace_at = s.pace_base + gap;

  if (nic.uplink.empty())
    events_.set(uplinks_ + host, event_key(burst.arrival, uplinks_ + host));
  nic.uplink.push(burst);
  schedule(s);
}

void Simulator::on_control(Ps now, std::uint32_t way) {
  Ring<Control> &controls = control_[way];
  const Control control = controls.front();
  controls.pop();
  const std::uint32_t stream = kControl + way;
  events_.set(stream, controls.empty() ? kNever : event_key(controls.front().arrival, stream));
  switch (control.kind) {
  case ControlKind::ack:
    ++counters_.acks;
    on_ack(now, control);
    fabric_.telemetry().give(control.telemetry);
    return;
  case ControlKind::nack:
    ++counters_.nacks;
    return on_nack(now, control.flow, control.value);
  case ControlKind::cnp:
    ++counters_.cnps;
    ++senders_[control.flow].cnp_count;
    if (baseline_ != nullptr && senders_[control.flow].active)
      steer(control.flow, baseline_->on_cnp(control.flow, now), false);
    return;
  case ControlKind::response:
    return on_response(now, control.flow, control.value);
  }
}

void Simulator::on_ack(Ps now, const Control &control) {
  const std::uint32_t psn = control.value;
  Sender &s = senders_[control.flow];
  if (!s.active || psn <= s.acked_psn)
    return;
  const bool was_blocked = s.blocked();
  const std::uint32_t packets = psn - s.acked_psn;
  s.acked_psn = psn;
  s.next_psn = std::max(s.next_psn, psn);
  s.timed_at = now;
  if (baseline_ != nullptr || max_min_) {
    ++counters_.rtts;
    counters_.rtt_ns += static_cast<std::uint64_t>((now - control.sent_at) / kPsPerNs);
  }
  if (psn == s.end_psn) {
    end_flow(now, control.flow);
  } else if (baseline_ != nullptr) {
    Ack ack;
    ack.now = now;
    ack.rtt = now - control.sent_at;
    ack.acked_psn = psn;
    ack.next_psn = s.next_psn;
    ack.packets = packets;
    ack.marked = control.marked;
    if (control.telemetry != 0) {
      const Stamps &stamps = fabric_.telemetry()[control.telemetry];
      ack.hops = stamps.hop.data();
      ack.hop_count = stamps.count;
    }
    return steer(control.flow, baseline_->on_ack(control.flow, ack), was_blocked);
  }
  if (was_blocked) {
    s.pace_at = std::max(s.pace_at, now); // no credit for the time it was blocked
    schedule(s);
  }
}

void Simulator::on_nack(Ps now, std::uint32_t flow, std::uint32_t psn) {
  Sender &s = senders_[flow];
  if (!s.active || psn < s.acked_psn)
    return;
  ++s.nack_count;
  const bool was_blocked = s.blocked();
  s.go_back(psn, now);
  if (baseline_ != nullptr)
    return steer(flow, baseline_->on_loss(flow, now), was_blocked);
  if (was_blocked)
    s.pace_at = std::max(s.pace_at, now);
  schedule(s);
}

} // namespace netsim

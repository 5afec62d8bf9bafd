// The sender's side: pacing and bursts at the NIC, what ACKs and NACKs do.
#include "simulator.hpp"

#include <algorithm>

namespace netsim {

Ps Simulator::pace_gap(const Sender &s) const {
  return static_cast<Ps>(std::min(s.last_burst_ps / s.rate, static_cast<double>(kLatest / 2)));
}

// When a queue pair may send next: by its pace; never while blocked, unless an ACK can time out.
void Simulator::schedule(Sender &s) {
  std::uint64_t key = kNever;
  if (s.active) {
    if (!s.blocked(net_)) {
      key = event_key(std::min(s.pace_at, kLatest), s.qp);
    } else if (s.ack_awaited()) {
      key = event_key(s.timed_at + net_.retransmit_timeout, s.qp);
    }
  }
  nics_[s.host].due.set(s.qp, key);
  schedule_nic(s.host);
}

void Simulator::schedule_nic(std::uint32_t host) {
  const Ps next = nics_[host].next();
  events_.set(nics_first_ + host, next >= kLatest ? kNever : event_key(next, nics_first_ + host));
}

void Simulator::on_nic(Ps now, std::uint32_t host) {
  Nic &nic = nics_[host];
  const std::uint32_t flow = nic.first_flow + key_stream(nic.due.first());
  Sender &s = senders_[flow];

  if (s.ack_awaited() && now >= s.timed_at + net_.retransmit_timeout) {
    ++counters_.timeouts;
    s.go_back(s.acked_psn, now);
    s.pace_at = std::max(s.pace_at, now);
  }
  if (s.blocked(net_) || s.pace_at > now)
    return schedule(s);

  const std::uint32_t packets = s.burst_room(net_);
  const Ps duration = packets * data_ps_;
  Burst burst{now + data_ps_ + net_.uplink_delay, flow, s.next_psn, 0, static_cast<std::uint16_t>(packets), 0};

  s.next_psn += packets;
  if (s.next_psn == s.end_psn || (s.next_psn - s.start_psn) % net_.message_packets == 0) {
    burst.ack = 1;
    if (!s.ack_awaited())
      s.timed_at = now;
    s.asked_psn = s.next_psn;
  }
  s.sent_packets += packets;
  s.sent_total += packets;
  counters_.data_sent += packets;

  nic.free_at = now + duration;
  if (s.probe_outstanding ? now - s.probe_sent_at > net_.probe_timeout : nic.free_at >= s.probe_at) {
    s.probe_outstanding = true;
    s.probe_sent_at = nic.free_at;
    burst.probe_serial = ++s.probe_serial;
    nic.free_at += probe_ps_;
    ++counters_.probes_sent;
  }

  // A queue pair may make up for time it waited while others were served, but for one gap at the most.
  s.last_burst_ps = static_cast<std::uint32_t>(duration);
  const Ps gap = pace_gap(s);
  s.pace_base = std::max(s.pace_at, now - gap);
  s.pace_at = s.pace_base + gap;

  if (nic.uplink.empty())
    events_.set(uplinks_ + host, event_key(burst.arrival, uplinks_ + host));
  nic.uplink.push(burst);
  schedule(s);
}

void Simulator::on_control(Ps now) {
  const Control control = control_.front();
  control_.pop();
  events_.set(kControl, control_.empty() ? kNever : event_key(control_.front().arrival, kControl));
  switch (control.kind) {
  case ControlKind::ack:
    ++counters_.acks;
    return on_ack(now, control.flow, control.value);
  case ControlKind::nack:
    ++counters_.nacks;
    return on_nack(now, control.flow, control.value);
  case ControlKind::cnp:
    ++counters_.cnps;
    ++senders_[control.flow].cnp_count;
    return;
  case ControlKind::response:
    return on_response(now, control.flow, control.value);
  }
}

void Simulator::on_ack(Ps now, std::uint32_t flow, std::uint32_t psn) {
  Sender &s = senders_[flow];
  if (!s.active || psn <= s.acked_psn)
    return;
  const bool was_blocked = s.blocked(net_);
  s.acked_psn = psn;
  s.next_psn = std::max(s.next_psn, psn);
  s.timed_at = now;
  if (psn == s.end_psn)
    end_flow(now, flow);
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
  const bool was_blocked = s.blocked(net_);
  s.go_back(psn, now);
  if (was_blocked)
    s.pace_at = std::max(s.pace_at, now);
  schedule(s);
}

} // namespace netsim

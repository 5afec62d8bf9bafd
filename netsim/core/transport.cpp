#include "transport.hpp"

#include <algorithm>

#include "prefetch.hpp"

namespace netsim {

void Transport::on_control(Ps now, std::uint32_t way) {
  Ring<Control> &controls = n_.control[way];
  const Control control = controls.front();
  controls.pop();
  prefetch(n_.senders[controls.ahead(2).flow]);
  n_.loop.follow(n_.loop.streams.control + way, controls, &Control::arrival);
  sending_.turns_of(n_.senders[control.flow].host, now);
  switch (control.kind) {
  case ControlKind::ack:
    ++n_.counters.acks;
    on_ack(now, control);
    n_.fabric.telemetry().give(control.telemetry);
    return;
  case ControlKind::nack:
    ++n_.counters.nacks;
    return on_nack(now, control.flow, control.value);
  case ControlKind::trim:
    return on_trim(now, control.flow, control.value);
  case ControlKind::cnp:
    ++n_.counters.cnps;
    ++n_.senders[control.flow].cnp_count;
    if (flows_.has_baseline(n_.senders[control.flow]) && n_.senders[control.flow].active)
      flows_.on_cnp(now, control.flow);
    return;
  case ControlKind::response:
    return flows_.on_response(now, control.flow, control.value);
  }
}

void Transport::on_ack(Ps now, const Control &control) {
  const std::uint32_t psn = control.value;
  Sender &s = n_.senders[control.flow];
  if (s.active && control.beyond > 0)
    return on_early(now, control);
  if (!s.active || psn <= s.acked_psn)
    return;
  const bool was_blocked = s.blocked();
  const bool noted = s.absent > 0 || n_.scoreboard.trims();
  const std::uint32_t packets = noted ? n_.scoreboard.acknowledge(s, control.flow, psn) : psn - s.acked_psn;
  flows_.acknowledge(control.flow, psn, control.marked);
  s.acked_psn = psn;
  s.next_psn = std::max(s.next_psn, psn);
  s.timed_at = now;
  count_rtt(now, control);
  if (psn == s.end_psn)
    workload_.end(now, control.flow);
  else if (flows_.has_baseline(s))
    return flows_.on_ack(now, control, {packets, packets * n_.net.payload_bytes}, was_blocked);
  if (was_blocked) {
    s.pace_at = std::max(s.pace_at, n_.ready_at(control.flow, now)); // no credit for the time it was blocked
    sending_.schedule(s);
  }
}

void Transport::count_rtt(Ps now, const Control &ack) {
  if (flows_.probes(n_.senders[ack.flow]))
    return;
  ++n_.counters.rtts;
  n_.counters.rtt_ns += static_cast<std::uint64_t>((now - ack.sent_at) / kPsPerNs);
}

// A packet has come before one that is missing (selective repeat): it is acknowledged by itself, with the number up to
// which all have come.
void Transport::on_early(Ps now, const Control &control) {
  const std::uint32_t flow = control.flow, psn = control.value + control.beyond;
  Sender &s = n_.senders[flow];
  if (psn < s.acked_psn)
    return;
  const bool was_blocked = s.blocked();
  std::uint32_t packets = 0;
  if (control.value > s.acked_psn) {
    packets = n_.scoreboard.acknowledge(s, flow, control.value);
    s.acked_psn = control.value;
    s.timed_at = now;
  }
  count_rtt(now, control);
  const bool news = n_.scoreboard.come(s, flow, psn);
  packets += news;
  if (flows_.has_baseline(s)) {
    const std::uint32_t less = news && psn + 1 == s.end_psn ? n_.last_is_short(flow) : 0;
    flows_.on_ack(now, control, {packets, packets * n_.net.payload_bytes - less}, was_blocked);
  }
  const std::uint32_t missing = n_.scoreboard.miss(s, flow, psn);
  if (missing > 0) {
    ++n_.counters.nacks;
    ++s.nack_count;
  }
  if (flows_.has_baseline(s)) {
    if (missing > 0)
      flows_.on_loss(now, flow, LossKind::skipped, missing * n_.net.payload_bytes, was_blocked);
    return;
  }
  if (was_blocked)
    s.pace_at = std::max(s.pace_at, n_.ready_at(flow, now));
  sending_.schedule(s);
}

// A header has come in the place of a packet (selective repeat): it is missing, and repeated at once.
void Transport::on_trim(Ps now, std::uint32_t flow, std::uint32_t psn) {
  Sender &s = n_.senders[flow];
  const bool was_blocked = s.blocked();
  if (!s.active || psn < s.acked_psn || !n_.scoreboard.trim(s, flow, psn))
    return;
  ++s.nack_count;
  if (psn == s.acked_psn)
    s.timed_at = now; // the timer is that of the oldest packet: word of a later one says nothing of it
  if (flows_.has_baseline(s)) {
    const std::uint32_t less = psn + 1 == s.end_psn ? n_.last_is_short(flow) : 0;
    return flows_.on_loss(now, flow, LossKind::trimmed, n_.net.payload_bytes - less, was_blocked);
  }
  if (was_blocked)
    s.pace_at = std::max(s.pace_at, n_.ready_at(flow, now));
  sending_.schedule(s);
}

void Transport::on_nack(Ps now, std::uint32_t flow, std::uint32_t psn) {
  Sender &s = n_.senders[flow];
  if (!s.active || psn < s.acked_psn)
    return;
  ++s.nack_count;
  flows_.acknowledge(flow, psn, false);
  const bool was_blocked = s.blocked();
  const std::uint32_t refused = (s.next_psn - psn) * n_.net.payload_bytes -
                                (s.next_psn == s.end_psn && psn != s.end_psn ? n_.last_is_short(flow) : 0);
  s.go_back(psn, now);
  if (flows_.has_baseline(s))
    return flows_.on_loss(now, flow, LossKind::nacked, refused, was_blocked);
  if (was_blocked)
    s.pace_at = std::max(s.pace_at, n_.ready_at(flow, now));
  sending_.schedule(s);
}

} // namespace netsim

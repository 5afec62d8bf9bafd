#include "simulator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace netsim {

Simulator::Simulator(const NetworkConfig &net, const ScenarioConfig &scenario, Policy *policy, double initial_rate,
                     std::uint64_t seed)
    : net_(net), scenario_(scenario), policy_(policy), initial_rate_(initial_rate),
      data_ps_(net.data_wire_bytes * net.ps_per_byte), probe_ps_(net.probe_wire_bytes * net.ps_per_byte),
      uplinks_(kPorts + scenario.ports), nics_first_(uplinks_ + scenario.hosts),
      events_(kPorts + scenario.ports + 2 * scenario.hosts), starts_(scenario.flows.size()),
      next_start_(scenario.flows.size()), started_at_(scenario.flows.size(), -1), senders_(scenario.flows.size()),
      receivers_(scenario.flows.size()), switch_(net, scenario.ports, seed) {
  Pcg32 random(seed, 1);
  // The device's clock wraps every 4.29 s; it starts so that it wraps between 10 and 110 ms of every run.
  timestamp_offset_ =
      static_cast<std::uint32_t>(0) - static_cast<std::uint32_t>(10'000'000 + random.below(100'000'000));

  std::vector<std::uint32_t> queue_pairs(scenario.hosts, 0);
  for (const FlowConfig &flow : scenario.flows)
    ++queue_pairs[flow.host];
  nics_.reserve(scenario.hosts);
  std::uint32_t first = 0;
  for (const std::uint32_t n : queue_pairs) {
    nics_.emplace_back(std::max<std::uint32_t>(n, 1));
    nics_.back().first_flow = first;
    first += n;
  }
  for (std::uint32_t f = 0; f < senders_.size(); ++f) {
    const FlowConfig &flow = scenario.flows[f];
    senders_[f].host = flow.host;
    senders_[f].port = flow.port;
    senders_[f].qp = f - nics_[flow.host].first_flow;
    next_start_[f] = flow.start + (net.start_jitter > 0 ? random.below(net.start_jitter) : 0);
    starts_.set(f, event_key(next_start_[f], f));
  }
  if (!senders_.empty())
    events_.set(kStarts, event_key(key_time(starts_.first()), kStarts));
  reset_window();
}

Ps Simulator::one_way_base() const { return 2 * data_ps_ + net_.uplink_delay + net_.downlink_delay; }

Stop Simulator::run(Ps until, std::uint64_t events) {
  if (!batch_.empty())
    return Stop::batch;
  limit_ = until;
  for (std::uint64_t n = 0;; ++n) {
    const std::uint64_t key = events_.first();
    const Ps now = key_time(key);
    if (key == kNever || now >= limit_)
      break;
    if (n == events)
      return Stop::slice;
    now_ = now;
    const std::uint32_t stream = key_stream(key);
    if (stream >= nics_first_) {
      on_nic(now, stream - nics_first_);
    } else if (stream >= uplinks_) {
      on_uplink(now, stream - uplinks_);
    } else if (stream >= kPorts) {
      on_port(now, stream - kPorts);
    } else if (stream == kControl) {
      on_control(now);
    } else if (stream == kPending) {
      on_pending(now);
    } else {
      on_start(now);
    }
  }
  if (!batch_.empty())
    return Stop::batch;
  now_ = until;
  return Stop::until;
}

// ---- flows come and go

void Simulator::on_start(Ps now) {
  const std::uint32_t flow = key_stream(starts_.first());
  const Ps period = scenario_.flows[flow].period;
  if (!senders_[flow].active)
    begin_flow(now, flow);
  // A flow still busy when its next round begins leaves that round out.
  next_start_[flow] += period;
  starts_.set(flow, period > 0 ? event_key(next_start_[flow], flow) : kNever);
  const std::uint64_t first = starts_.first();
  events_.set(kStarts, first == kNever ? kNever : event_key(key_time(first), kStarts));
}

void Simulator::begin_flow(Ps now, std::uint32_t flow) {
  Sender &s = senders_[flow];
  const std::uint32_t packets = scenario_.flows[flow].packets;
  s.active = true;
  ++s.generation;
  s.start_psn = s.next_psn;
  s.end_psn = packets == 0 ? kUnlimited : s.next_psn + packets;
  s.rate = initial_rate_;
  s.pace_at = s.pace_base = now;
  s.last_burst_ps = 0;
  s.timed_at = now;
  s.probe_at = now;
  s.probe_outstanding = false;
  s.cnp_count = s.nack_count = s.sent_packets = 0;
  s.step = 0;
  started_at_[flow] = now;
  if (policy_ != nullptr)
    policy_->reset(flow);
  if (scenario_.long_flow >= 0 && flow != static_cast<std::uint32_t>(scenario_.long_flow)) {
    if (recovery_.running == 0 && recovery_.begin < 0)
      recovery_.begin = now;
    ++recovery_.running;
    recovery_.quiet = -1;
  }
  schedule(s);
}

void Simulator::end_flow(Ps now, std::uint32_t flow) {
  Sender &s = senders_[flow];
  s.active = false;
  s.probe_outstanding = false;
  const FlowConfig &config = scenario_.flows[flow];
  const Ps alone = (config.packets - 1) * data_ps_ + one_way_base() + net_.control_delay;
  window_.completion_normalised.push_back(static_cast<double>(now - started_at_[flow]) / static_cast<double>(alone));
  if (scenario_.long_flow >= 0 && --recovery_.running == 0) {
    recovery_.quiet = now;
    long_flow_rate(now, senders_[static_cast<std::uint32_t>(scenario_.long_flow)].rate);
  }
}

// PCC-RL, appendix E: from the interruption by the short flows until they are done and the long flow is back.
void Simulator::long_flow_rate(Ps now, double rate) {
  if (recovery_.begin < 0 || recovery_.quiet < 0 || rate < scenario_.recovered_rate)
    return;
  window_.recovery_us.push_back(static_cast<double>(now - recovery_.begin) * 1e-6);
  recovery_.begin = -1;
}

// ---- NIC

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

// ---- switch

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

// ---- receiver

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

// ---- sender

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

void Simulator::on_response(Ps now, std::uint32_t flow, std::uint32_t serial) {
  Sender &s = senders_[flow];
  if (!s.active || !s.probe_outstanding || serial != s.probe_serial)
    return;
  const Event event{timestamp(s.probe_sent_at),          timestamp(now),     s.cnp_count, s.nack_count,
                    s.sent_packets * net_.payload_bytes, s.probe_queue_bytes};
  s.probe_outstanding = false;
  s.probe_at = std::numeric_limits<Ps>::max(); // none before the decision has taken effect
  s.cnp_count = s.nack_count = s.sent_packets = 0;
  const std::uint32_t step = s.step++;
  ++counters_.decisions;
  counters_.rtt_ns += event.response_ns - event.request_sent_ns;

  if (policy_ == nullptr) {
    batch_.push_back(Asked{now, flow, s.generation});
    asked_records_.add_event(now, flow, step, event);
    asked_records_.rate_q30.push_back(rate_to_q30(s.rate));
    // All decisions of one latency belong to a batch: none of them can feel another's effect.
    limit_ = net_.decision_latency == 0 ? 0 : std::min(limit_, batch_.front().time + net_.decision_latency);
    return;
  }
  const Decision decision = policy_->decide(flow, event);
  if (recording) {
    records_.add_event(now, flow, step, event);
    records_.add_decision(decision);
  }
  if (net_.decision_latency == 0)
    return apply_rate(now, flow, decision.rate);
  const Ps due = now + net_.decision_latency;
  if (pending_.empty())
    events_.set(kPending, event_key(due, kPending));
  pending_.push(PendingRate{due, flow, s.generation, decision.rate});
}

void Simulator::answer(const double *rate, const std::int32_t *action_q16) {
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    const Asked &asked = batch_[i];
    if (recording) {
      const Records &a = asked_records_;
      records_.add_event(a.t_ps[i], a.flow[i], a.step[i],
                         Event{a.request_sent_ns[i], a.response_ns[i], a.cnp_count[i], a.nack_count[i], a.sent_bytes[i],
                               a.queue_bytes[i]});
      records_.add_decision(Decision{rate[i], a.rate_q30[i], action_q16[i], std::numeric_limits<float>::quiet_NaN()});
    }
    if (net_.decision_latency == 0) {
      apply_rate(asked.time, asked.flow, rate[i]);
      continue;
    }
    const Ps due = asked.time + net_.decision_latency;
    if (pending_.empty())
      events_.set(kPending, event_key(due, kPending));
    pending_.push(PendingRate{due, asked.flow, asked.generation, rate[i]});
  }
  batch_.clear();
  asked_records_ = Records{};
}

void Simulator::on_pending(Ps now) {
  const PendingRate pending = pending_.front();
  pending_.pop();
  events_.set(kPending, pending_.empty() ? kNever : event_key(pending_.front().due, kPending));
  const Sender &s = senders_[pending.flow];
  if (s.active && s.generation == pending.generation)
    apply_rate(now, pending.flow, pending.rate);
}

void Simulator::apply_rate(Ps now, std::uint32_t flow, double rate) {
  Sender &s = senders_[flow];
  s.rate = rate;
  s.probe_at = now + net_.probe_gap;
  // The gap after the last burst is that of the new rate: a flow that speeds up does not wait out its old gap.
  s.pace_at = s.pace_base + pace_gap(s);
  schedule(s);
  if (static_cast<std::int64_t>(flow) == scenario_.long_flow)
    long_flow_rate(now, rate);
}

// ---- measurement

void Simulator::reset_window() {
  window_.begin = now_;
  window_.at_begin = counters_;
  window_.latency.clear();
  window_.expected_psn.resize(receivers_.size());
  window_.sent.resize(senders_.size());
  window_.received_bytes.resize(switch_.ports().size());
  for (std::size_t i = 0; i < receivers_.size(); ++i)
    window_.expected_psn[i] = receivers_[i].expected_psn;
  for (std::size_t i = 0; i < senders_.size(); ++i)
    window_.sent[i] = senders_[i].sent_total;
  for (std::size_t i = 0; i < switch_.ports().size(); ++i) {
    Port &port = switch_.port(static_cast<std::uint32_t>(i));
    window_.received_bytes[i] = port.received_bytes;
    port.longest = switch_.backlog(static_cast<std::uint32_t>(i), now_);
  }
  window_.completion_normalised.clear();
  window_.recovery_us.clear();
}

} // namespace netsim

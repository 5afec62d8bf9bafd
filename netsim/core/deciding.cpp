// From an RTT response to a new rate: inside (a policy) or outside (a batch of the array API).
#include "simulator.hpp"

#include <algorithm>
#include <limits>

namespace netsim {

void Simulator::on_response(Ps now, std::uint32_t flow, std::uint32_t serial) {
  Sender &s = senders_[flow];
  if (!s.active || !s.probe_outstanding || serial != s.probe_serial)
    return;
  const Event event{timestamp(s.probe_sent_at), timestamp(now), s.cnp_count, s.nack_count, s.sent_bytes,
                    s.probe_queue_bytes};
  s.probe_outstanding = false;
  ++counters_.rtts;
  counters_.rtt_ns += event.response_ns - event.request_sent_ns;
  if (engines_ != nullptr)
    return on_engine_event(now, flow, event);
  s.probe_at = std::numeric_limits<Ps>::max(); // none before the decision has taken effect
  s.cnp_count = s.nack_count = s.sent_bytes = 0;
  const std::uint32_t step = s.step++;
  ++counters_.decisions;

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
  push_pending(PendingRate{now + net_.decision_latency, flow, s.generation, decision.rate});
}

void Simulator::answer(const double *rate, const std::int32_t *action_q16) {
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    const Asked &asked = batch_[i];
    if (recording) {
      const Records &a = asked_records_;
      records_.add_event(a.t_ps[i], a.flow[i], a.step[i],
                         Event{a.request_sent_ns[i], a.response_ns[i], a.cnp_count[i], a.nack_count[i], a.sent_bytes[i],
                               a.queue_bytes[i]});
      records_.add_decision(
          Decision{rate[i], a.rate_q30[i], action_q16[i], std::numeric_limits<float>::quiet_NaN(), 0});
    }
    if (net_.decision_latency == 0) {
      apply_rate(asked.time, asked.flow, rate[i]);
      continue;
    }
    push_pending(PendingRate{asked.time + net_.decision_latency, asked.flow, asked.generation, rate[i]});
  }
  batch_.clear();
  asked_records_ = Records{};
}

void Simulator::push_pending(const PendingRate &pending) {
  if (pending_.empty())
    events_.set(kPending, event_key(pending.due, kPending));
  pending_.push(pending);
}

void Simulator::on_pending(Ps now) {
  if (engines_ != nullptr)
    return on_served(now);
  const PendingRate pending = pending_.front();
  pending_.pop();
  events_.set(kPending, pending_.empty() ? kNever : event_key(pending_.front().due, kPending));
  if (max_min_)
    return share_ideally(now);
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

} // namespace netsim

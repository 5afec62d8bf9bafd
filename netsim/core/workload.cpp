// Flows come and go; what their coming and going is measured by.
#include "simulator.hpp"

namespace netsim {

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

} // namespace netsim

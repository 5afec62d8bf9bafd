// Flows come and go; what their coming and going is measured by.
#include "simulator.hpp"

#include <algorithm>

#include "max_min.hpp"

namespace netsim {

namespace {
constexpr Ps kShareInterval = 1'000'000; // the ideal allocator looks at who is there once a microsecond at the most
} // namespace

void Simulator::on_start(Ps now) {
  const std::uint32_t flow = starts_.top().second;
  const Ps period = scenario_.flows[flow].period;
  const Ps planned = starts_.top().first;
  starts_.pop();
  if (!senders_[flow].active)
    begin_flow(now, flow);
  // A flow still busy when its next round begins leaves that round out.
  if (period > 0)
    starts_.emplace(planned + period, flow);
  events_.set(starts_stream_, starts_.empty() ? kNever : event_key(starts_.top().first, starts_stream_));
}

void Simulator::begin_flow(Ps now, std::uint32_t flow) {
  Sender &s = senders_[flow];
  const std::uint32_t packets = scenario_.flows[flow].packets;
  s.active = true;
  ++s.generation;
  s.start_psn = s.next_psn;
  s.end_psn = packets == 0 ? kUnlimited : s.next_psn + packets;
  s.rate = initial_rate_;
  s.window = net_.inflight_packets;
  s.pace_at = s.pace_base = now;
  s.last_burst_ps = 0;
  s.timed_at = now;
  s.probe_at = now;
  s.probe_outstanding = false;
  s.cnp_count = s.nack_count = s.sent_bytes = 0;
  s.step = 0;
  started_at_[flow] = now;
  if (policy_ != nullptr)
    policy_->reset(flow);
  if (baseline_ != nullptr) {
    const Ps back = scenario_.control_delays[routes_[flow].control];
    const Pace pace = baseline_->start(
        flow, now,
        PathFacts{receivers_[flow].base_latency + back, routes_[flow].hops, net_.ps_per_byte, net_.data_wire_bytes});
    s.rate = pace.rate;
    s.window = window_packets(pace.window);
  }
  if (max_min_) {
    if (packets == 0)
      s.pace_at = s.pace_base = now + kShareInterval; // not before it has its share
    share_soon(now);
  }
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
  Completions &done = window_.completions;
  done.flow.push_back(flow);
  done.start.push_back(started_at_[flow]);
  done.finish.push_back(now);
  done.alone.push_back(alone(flow));
  if (max_min_)
    share_soon(now);
  schedule(s);
  if (scenario_.long_flow >= 0 && --recovery_.running == 0) {
    recovery_.quiet = now;
    const auto long_flow = static_cast<std::uint32_t>(scenario_.long_flow);
    long_flow_rate(now, rate_of(long_flow));
  }
}

// From a flow's start to its last ACK in an empty network. At each port the last packet, which may be short, comes when
// it has crossed the link before and leaves no earlier than the full packet in front of it.
Ps Simulator::alone(std::uint32_t flow) const {
  const FlowConfig &config = scenario_.flows[flow];
  const Route &route = routes_[flow];
  const Ps full_packets = config.packets - 1;
  Ps slowest = net_.ps_per_byte;
  Ps full = full_packets * data_ps_;                          // when the last full packet has left a link ..
  Ps last = full + config.last_wire_bytes * net_.ps_per_byte; // .. and the last packet
  Ps first = data_ps_;                                        // .. and the first one
  Ps delay = uplink_delay_;
  for (std::uint32_t h = 0; h < route.hops; ++h) {
    const Port &port = fabric_.ports()[scenario_.routes[route.first + h]];
    const Ps packet = net_.data_wire_bytes * port.ps_per_byte;
    slowest = std::max(slowest, port.ps_per_byte);
    first += delay + packet;
    full = full_packets > 0 ? first + (full_packets - 1) * net_.data_wire_bytes * slowest : 0;
    last = std::max(last + delay, full) + config.last_wire_bytes * port.ps_per_byte;
    delay = port.delay;
  }
  return last + delay + scenario_.control_delays[route.control];
}

void Simulator::share_soon(Ps now) {
  if (pending_.empty())
    push_pending(PendingRate{now + kShareInterval, 0, 0, 0.0});
}

// The ideal: every flow at its max-min fair share of the links, at once.
void Simulator::share_ideally(Ps now) {
  const std::uint32_t hosts = scenario_.hosts;
  std::vector<double> capacity(hosts, 1.0);
  for (const Port &port : fabric_.ports())
    capacity.push_back(static_cast<double>(net_.ps_per_byte) / static_cast<double>(port.ps_per_byte));
  std::vector<std::uint32_t> flows, offsets{0}, links;
  for (std::uint32_t f = 0; f < senders_.size(); ++f) {
    if (!senders_[f].active)
      continue;
    flows.push_back(f);
    links.push_back(senders_[f].host);
    for (std::uint32_t h = 0; h < routes_[f].hops; ++h)
      links.push_back(hosts + scenario_.routes[routes_[f].first + h]);
    offsets.push_back(static_cast<std::uint32_t>(links.size()));
  }
  std::vector<double> rate(flows.size());
  max_min(capacity, offsets, links, std::vector<std::uint8_t>(flows.size(), 1), rate);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    apply_rate(now, flows[i], rate[i]);
    Sender &s = senders_[flows[i]];
    if (s.end_psn == kUnlimited && s.last_burst_ps == 0) {
      // Flows for ever take turns from the start; all at once they would leave a queue that a full link never drains.
      const double turn = static_cast<double>(i) / static_cast<double>(flows.size());
      s.pace_at = s.pace_base = now + static_cast<Ps>(turn * static_cast<double>(data_ps_) / s.rate);
      schedule(s);
    }
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

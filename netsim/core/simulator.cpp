#include "simulator.hpp"

#include <algorithm>

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

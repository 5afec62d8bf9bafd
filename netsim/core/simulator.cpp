#include "simulator.hpp"

#include <algorithm>

namespace netsim {

Simulator::Simulator(const NetworkConfig &net, const FabricConfig &fabric, const ScenarioConfig &scenario,
                     const Steering &steering, std::uint64_t seed)
    : net_(net), scenario_(scenario), uplink_delay_(fabric.uplink_delay), policy_(steering.policy),
      baseline_(steering.baseline), max_min_(steering.max_min), timed_(baseline_ != nullptr && baseline_->timed()),
      probes_(baseline_ == nullptr && !max_min_), initial_rate_(steering.initial_rate),
      data_ps_(net.data_wire_bytes * net.ps_per_byte), probe_ps_(net.probe_wire_bytes * net.ps_per_byte),
      starts_stream_(kControl + static_cast<std::uint32_t>(scenario.control_delays.size())),
      pauses_stream_(starts_stream_ + 1), transmitters_(pauses_stream_ + 1),
      links_(transmitters_ + static_cast<std::uint32_t>(fabric.ports.size())),
      uplinks_(links_ + static_cast<std::uint32_t>(fabric.ports.size())), nics_first_(uplinks_ + scenario.hosts),
      events_(nics_first_ + scenario.hosts), started_at_(scenario.flows.size(), -1), senders_(scenario.flows.size()),
      receivers_(scenario.flows.size()), routes_(scenario.flows.size()), fabric_(net, fabric, scenario.hosts, seed),
      control_(scenario.control_delays.size(), Ring<Control>{256}) {
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
    nics_.emplace_back(std::max<std::uint32_t>(n, 1), net.classes.size());
    nics_.back().first_flow = first;
    first += n;
  }
  std::vector<Start> starts(scenario.flows.size());
  for (std::uint32_t f = 0; f < senders_.size(); ++f) {
    const FlowConfig &flow = scenario.flows[f];
    senders_[f].host = flow.host;
    senders_[f].klass = flow.klass;
    senders_[f].qp = f - nics_[flow.host].first_flow;
    routes_[f] = Route{flow.route, static_cast<std::uint16_t>(flow.control), flow.hops, flow.klass};
    receivers_[f].base_latency = base_latency(f);
    starts[f] = {flow.start + (net.start_jitter > 0 ? random.below(net.start_jitter) : 0), f};
  }
  starts_ = decltype(starts_)(std::greater<Start>(), std::move(starts));
  if (!starts_.empty())
    events_.set(starts_stream_, event_key(starts_.top().first, starts_stream_));

  link_delay_.assign(scenario.hosts, uplink_delay_);
  for (const PortConfig &port : fabric.ports)
    link_delay_.push_back(port.delay);
  if (net.lossless)
    paused_since_.assign(link_delay_.size() * net.classes.size(), -1);
  if (policy_ != nullptr && (net.engines.of_nic > 0 || policy_->timed()))
    engines_ = std::make_unique<Engines>(net.engines, scenario.flows, scenario.hosts);
  reset_window();
}

Ps Simulator::base_latency(std::uint32_t flow) const {
  const Route &route = routes_[flow];
  Ps latency = data_ps_ + uplink_delay_;
  for (std::uint32_t h = 0; h < route.hops; ++h) {
    const Port &port = fabric_.ports()[scenario_.routes[route.first + h]];
    latency += net_.data_wire_bytes * port.ps_per_byte + port.delay;
  }
  return latency;
}

std::size_t Simulator::bytes_per_flow() const {
  return sizeof(Sender) + sizeof(Receiver) + sizeof(Route) + sizeof(FlowConfig) + sizeof(Start) +
         sizeof(started_at_[0]) + sizeof(window_.expected_psn[0]) + sizeof(window_.sent[0]) +
         net_.classes.size() * sizeof(std::uint64_t) * 4 / 3; // a leaf of the NIC's tree, and the nodes above
}

double Simulator::rate_of(std::uint32_t flow) const {
  const Sender &s = senders_[flow];
  if (!s.active)
    return 0.0;
  if (baseline_ == nullptr)
    return s.rate;
  const double rate = timed_ ? baseline_->rate_at(flow, now_) : s.rate;
  const Ps rtt = receivers_[flow].base_latency + scenario_.control_delays[routes_[flow].control];
  return std::min(rate, static_cast<double>(s.window * data_ps_) / static_cast<double>(rtt));
}

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
    check(now >= now_, "time went back");
    now_ = now;
    const std::uint32_t stream = key_stream(key);
    if (stream >= nics_first_) {
      on_nic(now, stream - nics_first_);
    } else if (stream >= uplinks_) {
      on_uplink(now, stream - uplinks_);
    } else if (stream >= links_) {
      on_link(now, stream - links_);
    } else if (stream >= transmitters_) {
      on_transmitted(now, stream - transmitters_);
    } else if (stream == pauses_stream_) {
      on_pause(now);
    } else if (stream == starts_stream_) {
      on_start(now);
    } else if (stream != kPending) {
      on_control(now, stream - kControl);
    } else {
      on_pending(now);
    }
  }
  check(!kChecked || conservation().holds(), "a packet was lost sight of");
  check(!kChecked || engines_ == nullptr || engines_->holds(), "an event was lost sight of");
  if (!batch_.empty())
    return Stop::batch;
  now_ = until;
  for (Ps &since : paused_since_) { // pauses that go on count up to now
    if (since >= 0) {
      counters_.paused_ps += static_cast<std::uint64_t>(now_ - since);
      since = now_;
    }
  }
  return Stop::until;
}

void Simulator::reset_window() {
  window_.begin = now_;
  window_.at_begin = counters_;
  window_.latency.clear();
  window_.expected_psn.resize(receivers_.size());
  window_.sent.resize(senders_.size());
  for (std::size_t i = 0; i < receivers_.size(); ++i)
    window_.expected_psn[i] = receivers_[i].expected_psn;
  for (std::size_t i = 0; i < senders_.size(); ++i)
    window_.sent[i] = senders_[i].sent_total;
  const std::size_t ports = fabric_.ports().size();
  window_.received_bytes.resize(ports);
  window_.marked.resize(ports);
  window_.dropped.resize(ports);
  for (std::size_t i = 0; i < ports; ++i) {
    Port &port = fabric_.ports()[i];
    window_.received_bytes[i] = port.received_bytes;
    window_.marked[i] = port.marked;
    window_.dropped[i] = port.dropped;
    port.longest = port.backlog(now_);
  }
  window_.completions = Completions{};
  window_.recovery_us.clear();
  if (engines_ != nullptr)
    engines_->reset_window(now_);
}

} // namespace netsim

#include "simulator.hpp"

#include <algorithm>
#include <stdexcept>

#include "check.hpp"

namespace netsim {

Simulator::Simulator(const NetworkConfig &net, const FabricConfig &fabric, const ScenarioConfig &scenario,
                     const std::vector<CohortSpec> &cohorts, const std::vector<WireSpec> &wires, std::uint64_t seed)
    : network_(net, fabric, scenario, cohorts.size(), seed), recovery_(network_),
      sending_(network_, flows_, forwarding_), flows_(network_, sending_, recovery_, seed),
      ideal_(cohorts.front().steering.ideal ? std::make_unique<FairShares>(network_, sending_, flows_) : nullptr),
      workload_(network_, sending_, flows_, recovery_, ideal_.get()), receivers_(network_),
      pausing_(network_, sending_, forwarding_, fabric),
      forwarding_(network_, receivers_, pausing_, fabric.routing, seed),
      transport_(network_, sending_, flows_, workload_) {
  Pcg32 random(seed, 1);
  flows_.start_clock(random);
  workload_.plan(random);
  for (std::uint32_t number = 0; number < cohorts.size(); ++number) {
    const CohortSpec &spec = cohorts[number];
    CohortConfig config = spec.config;
    if (number < net.ends.size()) { // at the flows
      config.disturbance = Disturbance{net.decision_loss, net.decision_late, net.decision_late_by};
      config.seed = seed;
    }
    if (spec.kind->make == nullptr) {
      cohorts_.push_back(flows_.settle(spec.decider, config, spec.steering));
      continue;
    }
    Settled settled = spec.kind->make({network_, flows_}, number, spec.decider, config);
    if (settled.hears != nullptr)
      flows_.settle(*settled.hears);
    sites_.push_back(std::move(settled.site));
    cohorts_.push_back(std::move(settled.cohort));
  }
  for (const WireSpec &wire : wires) {
    if (wire.from >= cohorts.size() || wire.to >= cohorts.size() || wire.from == wire.to)
      throw std::invalid_argument("a wire joins two cohorts");
    connect(wire, cohorts[wire.from].kind == cohorts[wire.to].kind);
  }
  reset_window();
}

void Simulator::connect(const WireSpec &wire, bool same_site) {
  Cohort &from = *cohorts_[wire.from];
  const Cohort &to = *cohorts_[wire.to];
  if (from.decider() == nullptr || to.decider() == nullptr || wire.knob >= from.shape().knobs)
    throw std::invalid_argument("a wire leads from a knob of a decider to a parameter of another");
  if (from.agents() > 1 && !same_site)
    throw std::invalid_argument("a wire's agents stand side by side, or its source is one");
  from.connect(Wire{wire.knob, wire.shift, to.decider(), wire.param, wire.least, wire.most, to.agents()});
}

std::size_t Simulator::bytes_per_flow() const {
  return sizeof(Sender) + sizeof(Receiver) + sizeof(Route) + sizeof(FlowConfig) + sizeof(Workload::Start) +
         2 * sizeof(Ps) + sizeof(network_.window.expected_psn[0]) + sizeof(network_.window.sent[0]) +
         network_.net.classes.size() * sizeof(std::uint64_t) * 4 / 3; // a leaf of the NIC's tree, and the nodes above
}

bool Simulator::waits_for_answer() const {
  return std::any_of(cohorts_.begin(), cohorts_.end(), [](const auto &cohort) { return cohort->waits_for_answer(); });
}

void Simulator::settle(Ps until) {
  sending_.turns(until);
  forwarding_.catch_up(until);
}

Stop Simulator::run(Ps until, std::uint64_t events) {
  if (waits_for_answer())
    return Stop::batch;
  Loop &loop = network_.loop;
  const Streams &streams = loop.streams;
  loop.limit = until;
  for (std::uint64_t n = 0;; ++n) {
    const std::uint64_t key = loop.events.first();
    const Ps now = key_time(key); // where there is no event, beyond any limit
    if (n == events)
      return Stop::slice;
    const Ps end = std::min(forwarding_.horizon(), loop.limit);
    if (now >= end) {
      settle(end);
      if (end == loop.limit)
        break;
      const Ps next = key_time(loop.events.first()); // the switches may have told the senders something
      forwarding_.skip(std::min({next, loop.limit, network_.turns.none_before(), forwarding_.first()}));
      continue;
    }
    check(now >= loop.now, "time went back");
    loop.now = now;
    const std::uint32_t stream = key_stream(key);
    if (stream == streams.pauses) {
      pausing_.on_nic_frame(now);
    } else if (stream == streams.starts) {
      workload_.on_start(now);
    } else if (stream == streams.delayed_events) {
      flows_.on_delayed_event(now);
    } else if (stream >= streams.control) {
      transport_.on_control(now, stream - streams.control);
    } else if (stream == 0 && ideal_ != nullptr) { // the flows' only cohort
      ideal_->share(now);
    } else {
      if (stream > Streams::tick(0))
        settle(now); // agents at the switches see what has come before them
      Cohort &cohort = *cohorts_[stream / 2];
      stream == Streams::due(stream / 2) ? cohort.due(now) : cohort.tick(now);
    }
  }
  settle(std::max(loop.limit, loop.now));
  check(!kChecked || conservation().holds(), "a packet was lost sight of");
  for (const auto &cohort : cohorts_)
    check(!kChecked || cohort->engines() == nullptr || cohort->engines()->holds(), "an event was lost sight of");
  if (waits_for_answer()) {
    loop.now = std::max({loop.now, sending_.last(), forwarding_.last()});
    return Stop::batch;
  }
  loop.now = until;
  pausing_.settle(until);
  return Stop::until;
}

void Simulator::reset_window() {
  Window &window = network_.window;
  window.begin = now();
  window.at_begin = network_.counters;
  window.latency.clear();
  for (Share &share : network_.shares)
    share = Share{};
  window.expected_psn.resize(network_.receivers.size());
  window.sent.resize(network_.senders.size());
  for (std::size_t i = 0; i < network_.receivers.size(); ++i)
    window.expected_psn[i] = network_.receivers[i].expected_psn;
  for (std::size_t i = 0; i < network_.senders.size(); ++i)
    window.sent[i] = network_.senders[i].sent_total;
  const std::size_t ports = network_.fabric.ports().size();
  window.received_bytes.resize(ports);
  window.marked.resize(ports);
  window.dropped.resize(ports);
  for (std::size_t i = 0; i < ports; ++i) {
    Port &port = network_.fabric.ports()[i];
    window.received_bytes[i] = port.received_bytes;
    window.marked[i] = port.marked;
    window.dropped[i] = port.dropped;
    port.longest = port.backlog(now());
  }
  window.completions = Completions{};
  window.rounds = Rounds{};
  window.recovery_us.clear();
  for (const auto &cohort : cohorts_)
    cohort->reset_window(now());
}

} // namespace netsim

#include "long_flow_site.hpp"

#include <algorithm>
#include <stdexcept>

#include "saturated.hpp"

namespace netsim {

namespace {

constexpr std::uint32_t kLineRateQ16 = 1U << 16;

std::uint32_t us(Ps time) { return saturated(static_cast<std::uint64_t>(time / 1'000'000)); }

} // namespace

LongFlowSite::LongFlowSite(const Surroundings &around)
    : n_(around.network), flows_(around.flows), flows_of_(n_.senders.size()) {
  flows_.may_give();
}

std::uint32_t LongFlowSite::receiver(std::uint32_t flow) const {
  const Route &route = n_.routes[flow];
  return n_.scenario.routes[route.first + route.hops - 1] / n_.scenario.planes;
}

std::uint32_t LongFlowSite::kb(std::uint32_t flow) const {
  return saturated((n_.senders[flow].sent_total - flows_of_[flow].sent_before) * n_.net.payload_bytes / 1000);
}

// 0 is kept for where there is no flow: 1 shares nothing with this flow, 2 the sender, 3 the receiver, 4 both.
std::uint32_t LongFlowSite::shared(std::uint32_t from, std::uint32_t to, std::uint32_t flow) const {
  return 1 + (from == machine(flow)) + 2 * (to == receiver(flow));
}

// One came or went between these machines.
void LongFlowSite::changed(std::uint32_t from, std::uint32_t to) {
  for (const std::uint32_t flow : known_)
    flows_of_[flow].asks |= shared(from, to, flow) > 1;
}

void LongFlowSite::look(Ps now) {
  std::vector<std::uint32_t> ended, came;
  for (const std::uint32_t flow : known_) {
    if (!running(flow))
      ended.push_back(flow);
  }
  std::erase_if(known_, [&](std::uint32_t flow) { return !running(flow); });
  const auto last = static_cast<std::uint8_t>(n_.demotion.levels() - 1);
  for (std::uint32_t flow = 0; flow < flows_of_.size(); ++flow) {
    const Sender &s = n_.senders[flow];
    if (s.active && s.klass == last && flows_of_[flow].generation != s.generation)
      came.push_back(flow);
  }
  for (const std::uint32_t flow : came) {
    const Sender &s = n_.senders[flow];
    flows_of_[flow] = LongFlow{s.generation, 0, now, n_.demotion.sent_before(flow), kLineRateQ16, true};
    n_.demotion.release(flow);
    changed(machine(flow), receiver(flow));
    known_.push_back(flow);
  }
  for (const std::uint32_t flow : ended) {
    const Sender &s = n_.senders[flow];
    const LongFlow &f = flows_of_[flow];
    gone_.insert(gone_.begin(), Gone{machine(flow), receiver(flow), s.host % n_.scenario.planes, s.klass, f.rate_q16,
                                     kb(flow), now - f.since, now});
    changed(machine(flow), receiver(flow));
  }
  gone_.resize(std::min(gone_.size(), kGone));
}

// The flow in question first, then those that share an end with it, the oldest first; then the others.
void LongFlowSite::observe(std::uint32_t flow, Ps now, Knobs event) {
  std::fill(event.begin(), event.end(), 0);
  std::size_t place = 0;
  const auto add = [&](std::uint32_t other) {
    if (place == kActive)
      return;
    const Sender &s = n_.senders[other];
    std::uint32_t *const of = &event[kOfActive * place++];
    of[ends] = shared(machine(other), receiver(other), flow);
    of[path] = s.host % n_.scenario.planes;
    of[priority] = s.klass;
    of[rate_q16] = flows_of_[other].rate_q16;
    of[sent_kb] = kb(other);
    of[age_us] = us(now - flows_of_[other].since);
  };
  add(flow);
  for (const bool close : {true, false}) {
    for (const std::uint32_t other : known_) {
      if (other != flow && running(other) && (shared(machine(other), receiver(other), flow) > 1) == close)
        add(other);
    }
  }
  for (std::size_t g = 0; g < gone_.size(); ++g) {
    const Gone &gone = gone_[g];
    std::uint32_t *const of = &event[kOfActive * kActive + kOfGone * g];
    of[gone_ends] = shared(gone.from, gone.to, flow);
    of[gone_path] = gone.path;
    of[gone_priority] = gone.priority;
    of[gone_rate_q16] = gone.rate_q16;
    of[gone_kb] = gone.kb;
    of[took_us] = us(gone.took);
    of[ago_us] = us(now - gone.at);
  }
}

void LongFlowSite::in_force(std::uint32_t flow, Knobs knobs) const {
  const Sender &s = n_.senders[flow];
  knobs[set_priority] = s.klass;
  knobs[set_rate_q16] = flows_of_[flow].rate_q16;
  knobs[set_path] = s.host % n_.scenario.planes;
}

// Of classes and planes that there are not, the last.
void LongFlowSite::apply(std::uint32_t flow, Ps now, Words knobs) {
  const auto klass = std::min<std::size_t>(knobs[set_priority], n_.net.classes.size() - 1);
  const std::uint32_t rate = std::clamp<std::uint32_t>(knobs[set_rate_q16], 1, kLineRateQ16);
  flows_of_[flow].rate_q16 = rate;
  flows_.give(now, flow, rate / static_cast<double>(kLineRateQ16), std::min(knobs[set_path], n_.scenario.planes - 1),
              static_cast<std::uint8_t>(klass));
}

namespace {

Settled settle_long_flow(const Surroundings &around, std::uint32_t number, Decider *decider,
                         const CohortConfig &config) {
  if (!around.network.demotion.by_sent() || !around.flows.all_hear())
    throw std::invalid_argument("long flows are those that have fallen to the last class and whose sender is a "
                                "baseline; give the network class_by \"sent\", and a baseline at the flows");
  return make<LongFlowSite>(around, number, decider, config);
}

SiteFacts facts_of_long_flow(const NetworkConfig &, const FabricConfig &, const ScenarioConfig &scenario, Ps) {
  return SiteFacts{static_cast<std::uint32_t>(scenario.flows.size()), {}};
}

const SiteKind kLongFlows{"long_flow", Shape{LongFlowSite::kSignals, LongFlowSite::kKnobs}, settle_long_flow,
                          facts_of_long_flow};

} // namespace

} // namespace netsim

#include "window_site.hpp"

#include <algorithm>
#include <array>

#include "flow_site.hpp"
#include "rate_knob.hpp"
#include "saturated.hpp"

namespace netsim {

namespace {

void count(std::uint32_t &sum, std::uint32_t more) { sum = saturated(std::uint64_t{sum} + more); }

} // namespace

WindowSite::WindowSite(const Surroundings &around)
    : n_(around.network), flows_(around.flows), later_(n_.shortest_way_back()), flows_at_(n_.senders.size()) {}

std::uint32_t WindowSite::life(std::uint32_t flow) const { return flows_.life(flow); }

// A timer's time to be decided on has come.
void WindowSite::look(Ps now) {
  for (; !expired_.empty() && expired_.top().first <= now; expired_.pop())
    flows_at_[expired_.top().second].due = flows_at_[expired_.top().second].held;
  if (expired_.empty())
    n_.loop.clear(looks_);
  else
    n_.loop.set(looks_, expired_.top().first);
}

void WindowSite::observe(std::uint32_t flow, Ps now, Knobs event) {
  const Flow &f = flows_at_[flow];
  event[now_ns] = flows_.device_ns(now);
  event[rtt_ns] = f.rtt;
  event[acked_bytes] = f.acked;
  event[marked_bytes] = f.marked;
  std::copy(f.lost.begin(), f.lost.end(), event.begin() + trimmed_bytes); // in the order of LossKind
  event[in_flight_bytes] = saturated(n_.in_flight_bytes(flow));
  event[path_id] = f.path;
}

void WindowSite::event_taken(std::uint32_t flow, Ps, bool) {
  const Flow before = flows_at_[flow];
  Flow &f = flows_at_[flow] = Flow{};
  f.window = before.window;
  f.rate_q30 = before.rate_q30;
  f.held = before.held;
}

// What is counted since then is newer.
void WindowSite::undecided(std::uint32_t flow, Words event) {
  Flow &f = flows_at_[flow];
  count(f.acked, event[acked_bytes]);
  count(f.marked, event[marked_bytes]);
  for (std::size_t kind = 0; kind < f.lost.size(); ++kind)
    count(f.lost[kind], event[trimmed_bytes + kind]);
}

// The newer one's time, bytes in flight and RTT, unless it was not timed; what either counted.
void WindowSite::merge(Words older, Knobs newer) const {
  for (std::size_t counted = acked_bytes; counted < in_flight_bytes; ++counted)
    count(newer[counted], older[counted]);
  if (newer[rtt_ns] != 0)
    return;
  newer[rtt_ns] = older[rtt_ns];
  newer[path_id] = older[path_id];
}

void WindowSite::in_force(std::uint32_t flow, Knobs knobs) const {
  knobs.front() = flows_at_[flow].rate_q30;
  knobs.back() = flows_at_[flow].window;
}

void WindowSite::apply(std::uint32_t flow, Ps now, Words knobs) {
  Flow &f = flows_at_[flow];
  f.window = knobs.back();
  f.rate_q30 = knobs.size() > 1 ? knobs.front() : kLineRateQ30;
  f.held = false;
  if (!hears_)
    flows_.pace(now, flow, pace(flow));
}

// --- what the network tells ------------------------------------------------------------------------------------------

// Without a word from the decider the network's cap holds.
Pace WindowSite::start(std::uint32_t flow, Ps, const PathFacts &) {
  cohort_->begin(flow);
  std::array<std::uint32_t, kKnobs> words{};
  const Knobs first = Knobs(words).first(cohort_->shape().knobs);
  if (cohort_->decider() != nullptr)
    cohort_->decider()->first(flow, first);
  Flow &f = flows_at_[flow] = Flow{};
  f.window = first.back() > 0 ? first.back() : n_.net.inflight_packets * n_.net.payload_bytes;
  f.rate_q30 = first.size() > 1 && first.front() > 0 ? first.front() : kLineRateQ30;
  return pace(flow);
}

Pace WindowSite::on_ack(std::uint32_t flow, const Ack &ack) {
  Flow &f = flows_at_[flow];
  f.rtt = saturated(static_cast<std::uint64_t>(ack.rtt / kPsPerNs));
  f.path = ack.path;
  count(f.acked, ack.bytes);
  count(f.marked, ack.marked ? ack.bytes : 0);
  return ask(flow, ack.now);
}

Pace WindowSite::on_lost(std::uint32_t flow, const Loss &loss) {
  Flow &f = flows_at_[flow];
  count(f.lost[static_cast<std::size_t>(loss.kind)], loss.bytes);
  if (loss.kind != LossKind::expired)
    return ask(flow, loss.now);
  f.held = true;
  expired_.emplace(loss.now + later_, flow);
  n_.loop.set(looks_, expired_.top().first);
  return pace(flow);
}

Pace WindowSite::ask(std::uint32_t flow, Ps now) {
  hears_ = true;
  cohort_->ask(now, flow);
  hears_ = false;
  return pace(flow);
}

Pace WindowSite::pace(std::uint32_t flow) const {
  const Flow &f = flows_at_[flow];
  return {rate_of_knob(f.rate_q30), f.held ? 1.0 : static_cast<double>(f.window / n_.net.payload_bytes)};
}

namespace {

// What a window is by: a packet's payload, and the RTT of a full packet and its ACK in an empty network.
SiteFacts facts_of_flows(const NetworkConfig &net, const FabricConfig &fabric, const ScenarioConfig &scenario, Ps) {
  const auto flows = static_cast<std::uint32_t>(scenario.flows.size());
  std::vector<std::uint32_t> rtts(flows);
  for (std::uint32_t f = 0; f < flows; ++f) {
    const Ps back = scenario.control_delays[scenario.flows[f].control];
    rtts[f] = saturated(static_cast<std::uint64_t>((base_latency(net, fabric, scenario, f) + back) / kPsPerNs));
  }
  return SiteFacts{flows, {{"mtu_bytes", std::vector(flows, net.payload_bytes)}, {"path_rtt_ns", rtts}}};
}

const SiteKind kWindows{
    "flow_window", {WindowSite::kSignals, WindowSite::kKnobs}, make<WindowSite>, facts_of_flows, true};

} // namespace

} // namespace netsim

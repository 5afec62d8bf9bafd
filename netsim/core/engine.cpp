#include "engine.hpp"

namespace netsim {

namespace {

// A newer event of the same flow: its timestamps and its probe's queue count, and what either of them counted.
Event coalesced(const Event &older, Event newer) {
  newer.cnp_count += older.cnp_count;
  newer.nack_count += older.nack_count;
  newer.sent_bytes += older.sent_bytes;
  return newer;
}

} // namespace

Engines::Engines(const EngineConfig &config, const std::vector<FlowConfig> &flows, std::uint32_t hosts)
    : config_(config), places_(flows.size()) {
  std::vector<std::uint32_t> queue_pairs(hosts, 0);
  for (const FlowConfig &flow : flows)
    ++queue_pairs[flow.host];
  of_.reserve(flows.size());
  std::uint32_t first = 0;
  for (const std::uint32_t n : queue_pairs) {
    const std::uint32_t engines = config.of_nic == 0 ? n : std::min(config.of_nic, n);
    for (std::uint32_t qp = 0; qp < n; ++qp)
      of_.push_back(first + qp % engines);
    first += engines;
  }
  engines_.resize(first);
  reset_window(0);
}

Offer Engines::offer(Ps now, std::uint32_t flow, std::uint32_t generation, const Event &event) {
  ++counters_.events;
  Engine &engine = engines_[of_[flow]];
  Place &place = places_[flow];
  if (!engine.busy) {
    place = Place{now, event, generation, false};
    return Offer::taken;
  }
  if (place.waits) {
    const bool same = place.generation == generation;
    ++(same ? counters_.coalesced : counters_.expired);
    place = Place{now, same ? coalesced(place.event, event) : event, generation, true};
    return Offer::merged;
  }
  if (engine.waiting.size() >= config_.depth) {
    ++counters_.dropped;
    return Offer::dropped;
  }
  place = Place{now, event, generation, true};
  engine.waiting.push(flow);
  queues_change(now, 1);
  window_.queue_max = std::max(window_.queue_max, engine.waiting.size());
  return Offer::queued;
}

void Engines::begin(Ps now, std::uint32_t flow, Ps takes, double rate) {
  Engine &engine = engines_[of_[flow]];
  const Place &place = places_[flow];
  engine.busy = true;
  engine.flow = flow;
  engine.generation = place.generation;
  engine.rate = rate;
  engine.event_at = place.event_at;
  engine.began = now;
  ++engine.decided;
  ends_.emplace(now + takes, of_[flow]);
  const Ps wait = now - place.event_at;
  ++counters_.decided;
  counters_.wait_ps += static_cast<std::uint64_t>(wait);
  counters_.service_ps += static_cast<std::uint64_t>(takes);
  window_.wait.add(wait);
  window_.wait_max = std::max(window_.wait_max, wait);
}

std::uint32_t Engines::end() {
  const auto [now, e] = ends_.top();
  ends_.pop();
  engines_[e].busy = false;
  engines_[e].busy_ps += static_cast<std::uint64_t>(now - engines_[e].began);
  return e;
}

bool Engines::next(Ps now, std::uint32_t engine, std::uint32_t &flow) {
  Ring<std::uint32_t> &waiting = engines_[engine].waiting;
  if (waiting.empty())
    return false;
  flow = waiting.front();
  waiting.pop();
  queues_change(now, -1);
  places_[flow].waits = false;
  return true;
}

void Engines::applied(Ps now, Ps event_at) {
  const Ps latency = now - event_at;
  ++counters_.applied;
  counters_.latency_ps += static_cast<std::uint64_t>(latency);
  window_.latency.add(latency);
  window_.latency_max = std::max(window_.latency_max, latency);
}

void Engines::queues_change(Ps now, int by) {
  counters_.queue_ps += queued_ * static_cast<std::uint64_t>(now - changed_);
  changed_ = now;
  queued_ += static_cast<std::uint64_t>(by);
}

EngineCounters Engines::totals(Ps now) const {
  EngineCounters totals = counters_;
  totals.queue_ps += queued_ * static_cast<std::uint64_t>(now - changed_);
  return totals;
}

std::uint64_t Engines::busy(std::uint32_t e, Ps now) const {
  const Engine &engine = engines_[e];
  return engine.busy_ps + (engine.busy ? static_cast<std::uint64_t>(now - engine.began) : 0);
}

std::uint64_t Engines::waiting() const {
  std::uint64_t places = 0;
  for (const Engine &engine : engines_)
    places += engine.waiting.size();
  return places;
}

void Engines::reset_window(Ps now) {
  window_.at_begin = totals(now);
  window_.busy_ps.resize(engines_.size());
  window_.decided.resize(engines_.size());
  window_.queue_max = 0;
  for (std::uint32_t e = 0; e < engines_.size(); ++e) {
    window_.busy_ps[e] = busy(e, now);
    window_.decided[e] = engines_[e].decided;
    window_.queue_max = std::max(window_.queue_max, engines_[e].waiting.size());
  }
  window_.wait.clear();
  window_.latency.clear();
  window_.wait_max = window_.latency_max = 0;
}

} // namespace netsim

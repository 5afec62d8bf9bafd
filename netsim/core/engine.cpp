#include "engine.hpp"

namespace netsim {

Engines::Engines(const EngineConfig &config, const Shape &shape, const Site &site)
    : config_(config), shape_(shape), of_(site.agents()), places_(site.agents()),
      events_(std::size_t{site.agents()} * shape.signals) {
  std::vector<std::uint32_t> size; // of each device, agents
  for (std::uint32_t agent = 0; agent < site.agents(); ++agent) {
    size.resize(std::max<std::size_t>(size.size(), site.group(agent) + 1), 0);
    ++size[site.group(agent)];
  }
  std::vector<std::uint32_t> first, engines;
  std::uint32_t total = 0;
  for (const std::uint32_t n : size) {
    first.push_back(total);
    engines.push_back(config.of_device == 0 ? n : std::min(config.of_device, n));
    total += engines.back();
  }
  std::vector<std::uint32_t> seen(size.size(), 0);
  for (std::uint32_t agent = 0; agent < site.agents(); ++agent) {
    const std::uint32_t device = site.group(agent);
    of_[agent] = first[device] + seen[device]++ % engines[device];
  }
  engines_.resize(total);
  knobs_.resize(std::size_t{total} * shape.knobs);
  reset_window(0);
}

void Engines::keep(std::uint32_t agent, const Place &place, Words event) {
  places_[agent] = place;
  std::copy(event.begin(), event.end(), &events_[std::size_t{agent} * shape_.signals]);
}

Offer Engines::offer(Ps now, std::uint32_t agent, std::uint32_t life, Knobs event, const Site &site) {
  ++counters_.events;
  Engine &engine = engines_[of_[agent]];
  const Place &place = places_[agent];
  if (!engine.busy) {
    keep(agent, Place{now, life, false}, event);
    return Offer::taken;
  }
  if (place.waits) {
    const bool same = place.life == life;
    ++(same ? counters_.coalesced : counters_.expired);
    if (same)
      site.merge(this->event(agent), event);
    keep(agent, Place{now, life, true}, event);
    return Offer::merged;
  }
  if (engine.waiting.size() >= config_.depth) {
    ++counters_.dropped;
    return Offer::dropped;
  }
  keep(agent, Place{now, life, true}, event);
  engine.waiting.push(agent);
  queues_change(now, 1);
  window_.queue_max = std::max(window_.queue_max, engine.waiting.size());
  return Offer::queued;
}

void Engines::begin(Ps now, std::uint32_t agent, Ps takes, Words knobs) {
  const std::uint32_t e = of_[agent];
  Engine &engine = engines_[e];
  const Place &place = places_[agent];
  engine.busy = true;
  engine.agent = agent;
  engine.life = place.life;
  engine.event_at = place.event_at;
  engine.began = now;
  std::copy(knobs.begin(), knobs.end(), &knobs_[std::size_t{e} * shape_.knobs]);
  ++engine.decided;
  ends_.emplace(now + takes, e);
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

bool Engines::next(Ps now, std::uint32_t engine, std::uint32_t &agent) {
  Ring<std::uint32_t> &waiting = engines_[engine].waiting;
  if (waiting.empty())
    return false;
  agent = waiting.front();
  waiting.pop();
  queues_change(now, -1);
  places_[agent].waits = false;
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

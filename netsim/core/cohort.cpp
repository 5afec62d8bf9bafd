#include "cohort.hpp"

#include <algorithm>

namespace netsim {

Cohort::Cohort(Loop &loop, std::uint32_t number, const Site &site, Decider *decider, const CohortConfig &config)
    : loop_(loop), number_(number), decider_(decider), config_(config),
      random_(config.seed, (std::uint64_t{1} << 32) + number), event_(config.shape.signals), knobs_(config.shape.knobs),
      asked_records_(config.shape), records_(config.shape) {
  if (decider_ != nullptr && (config.engines.of_device > 0 || decider_->timed()))
    engines_ = std::make_unique<Engines>(config.engines, config.shape, site);
  if (config.trigger.period > 0) {
    above_.assign(site.agents(), 0);
    busy_.assign(site.agents(), kNew);
    loop_.set(Streams::tick(number_), config.trigger.period);
  }
}

// --- a latency, and what disturbs it ---------------------------------------------------------------------------------

Ps Cohort::effect(Ps now) {
  const Disturbance &d = config_.disturbance;
  if (d.late == 0)
    return now + config_.latency;
  const Ps late = random_.unit() < d.late ? random_.below(d.late_by + 1) : 0;
  return latest_ = std::max(latest_, now + config_.latency + late);
}

void Cohort::put_off(Ps due, std::uint32_t agent, std::uint32_t life, Words knobs) {
  if (pending_.empty())
    loop_.set(Streams::due(number_), due);
  pending_.push(Pending{due, agent, life});
  for (const std::uint32_t knob : knobs)
    pending_knobs_.push(knob);
}

Ps Cohort::takes(const Decision &decision, Words knobs) const {
  if (decision.takes > 0)
    return decision.takes;
  const bool quiet = config_.quiet >= 0 && knobs[static_cast<std::size_t>(config_.quiet)] == 0;
  return quiet ? config_.quiet_latency : config_.latency;
}

void Cohort::set_served() {
  const Ps end = engines_->first_end();
  if (end == kLatest)
    loop_.clear(Streams::due(number_));
  else
    loop_.set(Streams::due(number_), end);
}

// --- what is kept ----------------------------------------------------------------------------------------------------

Records Cohort::drain() {
  Records drained(config_.shape);
  std::swap(drained, records_);
  return drained;
}

void Cohort::reset_window(Ps now) {
  decisions_at_begin = decisions;
  if (engines_ != nullptr)
    engines_->reset_window(now);
}

} // namespace netsim

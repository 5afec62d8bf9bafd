// A cohort at a site that is known when it is compiled: a decision makes no virtual call but the decider's. For the
// .cpp of a site.
#pragma once

#include <algorithm>

#include "cohort.hpp"

namespace netsim {

template <class AtSite> class CohortAt final : public Cohort {
public:
  CohortAt(Loop &loop, std::uint32_t number, AtSite &site, Decider *decider, const CohortConfig &config)
      : Cohort(loop, number, site, decider, config), site_(site) {}

  std::uint32_t agents() const override { return site_.agents(); }
  void ask(Ps now, std::uint32_t agent); // it has something to decide on
  void tick(Ps now) override;
  void due(Ps now) override;
  void answer(const std::uint32_t *knobs, const std::int32_t *action) override;

private:
  Decision decide(Ps now, std::uint32_t agent, Words event, Knobs knobs);
  void ask_outside(Ps now, std::uint32_t agent);
  void ask_engine(Ps now, std::uint32_t agent);
  void serve(Ps now, std::uint32_t agent);
  void served(Ps now);
  bool crossed(std::uint32_t agent, Ps now);
  bool idle(std::uint32_t agent, Ps now);
  void carry_out(Ps now, std::uint32_t agent, std::uint32_t life, Words knobs);
  void apply(Ps now, std::uint32_t agent, Words knobs);

  AtSite &site_;
};

template <class AtSite> void CohortAt<AtSite>::tick(Ps now) {
  if (config_.trigger.period > 0)
    loop_.set(Streams::tick(number_), now + config_.trigger.period);
  site_.look(now);
  for (std::uint32_t agent = 0; agent < site_.agents(); ++agent) {
    if (site_.life(agent) != 0 && site_.asks(agent) && (config_.trigger.signal < 0 || crossed(agent, now)) &&
        (config_.trigger.idle_signal < 0 || !idle(agent, now)))
      ask(now, agent);
  }
}

// What an idle agent counts begins anew at every look, so that its first event when it is busy again is of one period.
template <class AtSite> bool CohortAt<AtSite>::idle(std::uint32_t agent, Ps now) {
  const Trigger &trigger = config_.trigger;
  site_.observe(agent, now, event_);
  site_.in_force(agent, knobs_);
  std::uint32_t &busy = busy_[agent];
  if (busy == kNew || event_[static_cast<std::uint32_t>(trigger.idle_signal)] > knobs_[trigger.idle_knob])
    busy = trigger.idle_looks;
  else if (busy > 0)
    --busy;
  if (busy > 0)
    return false;
  site_.event_taken(agent, now, true);
  return true;
}

template <class AtSite> bool CohortAt<AtSite>::crossed(std::uint32_t agent, Ps now) {
  site_.observe(agent, now, event_);
  const std::uint8_t above = event_[static_cast<std::uint32_t>(config_.trigger.signal)] > config_.trigger.level;
  const bool crossed = above != above_[agent];
  above_[agent] = above;
  return crossed;
}

template <class AtSite> void CohortAt<AtSite>::ask(Ps now, std::uint32_t agent) {
  if (config_.disturbance.loss > 0 && random_.unit() < config_.disturbance.loss)
    return site_.event_refused(agent, now);
  site_.observe(agent, now, event_);
  if (engines_ != nullptr)
    return ask_engine(now, agent);
  site_.event_taken(agent, now, false);
  if (decider_ == nullptr)
    return ask_outside(now, agent);
  if (!decide(now, agent, event_, knobs_).late || site_.applies_late())
    carry_out(now, agent, site_.life(agent), knobs_);
}

template <class AtSite> Decision CohortAt<AtSite>::decide(Ps now, std::uint32_t agent, Words event, Knobs knobs) {
  const std::uint32_t context = site_.context(agent);
  Decision decision = decider_->decide(context, event, knobs);
  if (decision.late) {
    ++late;
    site_.undecided(agent, event);
    return decision;
  }
  decision.before = site_.knob_in_force(decision.before, event);
  const std::uint32_t step = site_.next_step(agent);
  ++decisions;
  if (recording) {
    records_.add_event(now, context, step, event);
    records_.add_decision(decision, knobs);
  }
  return decision;
}

// --- a latency, and what disturbs it ---------------------------------------------------------------------------------

// A decision that was made now: it holds at once, or when its time has come.
template <class AtSite> void CohortAt<AtSite>::carry_out(Ps now, std::uint32_t agent, std::uint32_t life, Words knobs) {
  const Ps then = effect(now);
  if (then == now)
    apply(now, agent, knobs);
  else
    put_off(then, agent, life, knobs);
}

template <class AtSite> void CohortAt<AtSite>::due(Ps now) {
  if (engines_ != nullptr)
    return served(now);
  const Pending pending = pending_.front();
  pending_.pop();
  for (std::uint32_t &knob : knobs_) {
    knob = pending_knobs_.front();
    pending_knobs_.pop();
  }
  loop_.follow(Streams::due(number_), pending_, &Pending::due);
  if (site_.life(pending.agent) == pending.life)
    apply(now, pending.agent, knobs_);
}

template <class AtSite> void CohortAt<AtSite>::apply(Ps now, std::uint32_t agent, Words knobs) {
  site_.apply(agent, now, knobs);
  for (const Wire &wire : wires_) {
    if (site_.agents() > 1) {
      wire.carry(agent, knobs);
      continue;
    }
    for (std::uint32_t other = 0; other < wire.agents; ++other)
      wire.carry(other, knobs);
  }
}

// --- outside ---------------------------------------------------------------------------------------------------------

template <class AtSite> void CohortAt<AtSite>::ask_outside(Ps now, std::uint32_t agent) {
  asked_.push_back(Asked{now, agent, site_.life(agent)});
  asked_records_.add_event(now, agent, site_.next_step(agent), event_);
  ++decisions;
  site_.in_force(agent, knobs_);
  Decision in_force;
  in_force.before = site_.knob_in_force(knobs_.front(), event_);
  asked_records_.add_decision(in_force, knobs_);
  // All decisions of one latency belong to a batch: none of them can feel another's effect.
  loop_.limit = config_.latency == 0 ? 0 : std::min(loop_.limit, asked_.front().time + config_.latency);
}

template <class AtSite> void CohortAt<AtSite>::answer(const std::uint32_t *knobs, const std::int32_t *action) {
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const Asked &asked = asked_[i];
    const Words set{knobs + i * config_.shape.knobs, config_.shape.knobs};
    if (recording) {
      const Records &a = asked_records_;
      for (std::size_t s = 0; s < event_.size(); ++s)
        event_[s] = a.event[s][i];
      records_.add_event(a.t_ps[i], a.agent[i], a.step[i], event_);
      Decision decision;
      decision.before = a.before[i];
      decision.action = action[i];
      records_.add_decision(decision, set);
    }
    carry_out(asked.time, asked.agent, asked.life, set);
  }
  asked_.clear();
  asked_records_ = Records(config_.shape);
}

// --- engines: the event may wait, and the knobs hold when its handler has ended --------------------------------------

template <class AtSite> void CohortAt<AtSite>::ask_engine(Ps now, std::uint32_t agent) {
  const Offer offer = engines_->offer(now, agent, site_.life(agent), event_, site_);
  if (offer == Offer::dropped)
    return site_.event_refused(agent, now);
  site_.event_taken(agent, now, offer != Offer::taken && engines_->coalesces());
  if (offer == Offer::taken) {
    serve(now, agent);
    set_served();
  }
}

// The agent's engine begins with its event.
template <class AtSite> void CohortAt<AtSite>::serve(Ps now, std::uint32_t agent) {
  const Decision decision = decide(now, agent, engines_->event(agent), knobs_);
  engines_->begin(now, agent, takes(decision, knobs_), knobs_);
}

// A handler has ended: its knobs hold, and its engine goes on with the next event of an agent that is still there.
template <class AtSite> void CohortAt<AtSite>::served(Ps now) {
  const std::uint32_t e = engines_->end();
  const Engine &engine = engines_->engine(e);
  if (site_.life(engine.agent) == engine.life) {
    engines_->applied(now, engine.event_at);
    apply(now, engine.agent, engines_->knobs(e));
  }
  std::uint32_t agent = 0;
  while (engines_->next(now, e, agent)) {
    if (site_.life(agent) == engines_->place(agent).life) {
      serve(now, agent);
      break;
    }
    engines_->expired();
  }
  set_served();
}

} // namespace netsim

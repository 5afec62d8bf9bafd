// All agents of one interface under one decider: when they are asked, how long an answer takes, and what is kept of it.
//
//   trigger --> observe --+-- latency ----------------------------------+--> apply, if the agent is still the same
//                         +-- the device's engines: wait, decide (engine.hpp) --+
//                         +-- outside: a batch, answered from Python ----+
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "config.hpp"
#include "decider.hpp"
#include "engine.hpp"
#include "loop.hpp"
#include "random.hpp"
#include "records.hpp"
#include "ring.hpp"
#include "site.hpp"

namespace netsim {

// When agents are asked. Without a period the site says when (a response has come back), and when it is to look.
struct Trigger {
  Ps period = 0;            // all agents are looked at every period
  std::int32_t signal = -1; // .. and asked only when this signal has crossed `level` since the last look
  std::uint32_t level = 0;
  std::int32_t idle_signal = -1; // .. and not while it is idle: when this signal has not exceeded ..
  std::uint32_t idle_knob = 0;   // .. this knob in force at so many looks in a row, this one among them
  std::uint32_t idle_looks = 1;  // .. (an agent that was never asked is busy)
};

// Events that no decision follows, and decisions that take effect later than their latency says, each with a
// probability. A late one holds up those behind it.
struct Disturbance {
  double loss = 0, late = 0;
  Ps late_by = 0; // at the most
};

struct CohortConfig {
  Shape shape;
  Trigger trigger;
  Ps latency = 0;          // of a decision that does not say itself what it takes
  std::int32_t quiet = -1; // a knob: a decision that sets it to 0 ..
  Ps quiet_latency = 0;    // .. takes its engine so long instead
  EngineConfig engines;
  Disturbance disturbance; // `late` where decisions wait for no engine
  std::uint64_t seed = 0;
};

// A knob of one cohort that is a parameter of another: of the agent with the same number, or where the cohort has one
// agent only, of all.
struct Wire {
  std::uint32_t knob = 0;
  std::uint32_t shift = 0; // bits by which the site's unit is finer than the knob's own
  Decider *to = nullptr;
  std::uint32_t param = 0;
  std::uint32_t least = 0, most = ~std::uint32_t{0}; // that the parameter may be
  std::uint32_t agents = 0;                          // of the other cohort

  void carry(std::uint32_t agent, Words knobs) const {
    to->set_param(param, agent, std::clamp(knobs[knob] >> shift, least, most));
  }
};

// What a simulation knows of a cohort, wherever its agents live.
class Cohort {
public:
  virtual ~Cohort() = default;
  virtual void tick(Ps now) = 0;                                                   // its period is over
  virtual void due(Ps now) = 0;                                                    // a decision takes effect
  virtual void answer(const std::uint32_t *knobs, const std::int32_t *action) = 0; // the batch: knobs of each in turn

  void begin(std::uint32_t agent) { // it is new
    if (decider_ != nullptr)
      decider_->reset(agent);
  }
  void connect(const Wire &wire) { wires_.push_back(wire); }

  // Decisions that somebody outside has to make.
  bool waits_for_answer() const { return !asked_.empty(); }
  std::size_t batch_size() const { return asked_.size(); }
  const Records &batch() const { return asked_records_; }

  const Shape &shape() const { return config_.shape; }
  virtual std::uint32_t agents() const = 0;
  Decider *decider() const { return decider_; }
  const Engines *engines() const { return engines_.get(); } // none: a decision waits for nothing
  Records drain();
  void reset_window(Ps now);
  bool recording = false;
  std::uint64_t decisions = 0;          // since the start
  std::uint64_t decisions_at_begin = 0; // .. when the measurement window began
  std::uint64_t late = 0;               // answers that were not decided on, since the start

protected:
  struct Pending { // made, and waits for its latency to pass
    Ps due;
    std::uint32_t agent;
    std::uint32_t life;
  };
  struct Asked {
    Ps time;
    std::uint32_t agent;
    std::uint32_t life;
  };

  Cohort(Loop &loop, std::uint32_t number, const Site &site, Decider *decider, const CohortConfig &config);
  void put_off(Ps due, std::uint32_t agent, std::uint32_t life, Words knobs);
  void set_served();
  Ps takes(const Decision &decision, Words knobs) const; // of an engine's time
  Ps effect(Ps now);                                     // when what is decided now holds

  Loop &loop_;
  std::uint32_t number_; // names its streams in the loop
  Decider *decider_;     // none: decisions are made outside, in batches
  CohortConfig config_;
  std::unique_ptr<Engines> engines_;
  Pcg32 random_;
  Ps latest_ = 0;                            // effect of a decision
  std::vector<std::uint32_t> event_, knobs_; // scratch: of the decision being made
  Ring<Pending> pending_{64};
  Ring<std::uint32_t> pending_knobs_{64}; // of each in turn
  std::vector<std::uint8_t> above_;       // the level, at the last look
  std::vector<std::uint32_t> busy_;       // looks that an agent is still asked at; kNew: it was not yet
  static constexpr std::uint32_t kNew = ~std::uint32_t{0};
  std::vector<Wire> wires_;
  std::vector<Asked> asked_;
  Records asked_records_;
  Records records_;
};

} // namespace netsim

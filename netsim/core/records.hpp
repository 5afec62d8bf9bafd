// The decisions of a cohort, column by column, in the order they were made.
#pragma once

#include <cstdint>
#include <vector>

#include "decider.hpp"
#include "time.hpp"

namespace netsim {

struct Records {
  explicit Records(const Shape &shape) : event(shape.signals), knobs(shape.knobs) {}

  std::vector<std::int64_t> t_ps;
  std::vector<std::uint32_t> agent;
  std::vector<std::uint32_t> step;
  std::vector<std::vector<std::uint32_t>> event; // a column a signal
  std::vector<std::uint32_t> before;
  std::vector<std::uint8_t> maker;
  std::vector<std::vector<std::uint32_t>> knobs; // that were set
  std::vector<std::int32_t> action;
  std::vector<float> output;

  void add_event(Ps t, std::uint32_t a, std::uint32_t s, Words signals) {
    t_ps.push_back(t);
    agent.push_back(a);
    step.push_back(s);
    for (std::size_t i = 0; i < event.size(); ++i)
      event[i].push_back(signals[i]);
  }
  void add_decision(const Decision &decision, Words set) {
    before.push_back(decision.before);
    maker.push_back(static_cast<std::uint8_t>(decision.maker));
    for (std::size_t i = 0; i < knobs.size(); ++i)
      knobs[i].push_back(set[i]);
    action.push_back(decision.action);
    output.push_back(decision.output);
  }
  std::size_t size() const { return t_ps.size(); }
};

} // namespace netsim

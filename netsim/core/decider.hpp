// What decides for an agent: an event in, knobs out, both as whole numbers in the order of an interface
// (decision/ir/interface.py). What they mean only the interface and the site know, where the agent lives (site.hpp).
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "time.hpp"

namespace netsim {

using Words = std::span<const std::uint32_t>;
using Knobs = std::span<std::uint32_t>;

// How many words an agent is told, and how many it sets.
struct Shape {
  std::uint32_t signals = 0;
  std::uint32_t knobs = 0;
};

// Who made a step: where agents have a start (decision/policy/start.py), their phase may; firmware does not say.
enum class Maker : std::uint8_t { policy, phase, unknown };

// What a decider says of a decision that it has made.
struct Decision {
  Ps takes = 0;             // of an engine's time; 0: it does not say
  std::uint32_t before = 0; // the first word of the agent's context before it: a knob in force, as finely as it is kept
  Maker maker = Maker::policy;
  bool late = false;                                      // nothing was decided: decision/policy/once_per_rtt.py
  std::int32_t action = 0;                                // what its action map gave, Q16
  float output = std::numeric_limits<float>::quiet_NaN(); // of its network, where it is one
};

class Decider {
public:
  virtual ~Decider() = default;
  virtual void reset(std::uint32_t agent) = 0; // the agent is new
  virtual bool timed() const { return false; } // its decisions say what they take
  // What is in force in a new agent, as `Decision::before` has it; 0 where the decider does not say.
  virtual std::uint32_t initial(std::uint32_t /*agent*/) { return 0; }
  // The knobs of a new agent, where there are more than that one.
  virtual void first(std::uint32_t agent, Knobs knobs) { knobs.front() = initial(agent); }
  virtual Decision decide(std::uint32_t agent, Words event, Knobs knobs) = 0;
  // An operator's parameter, by its place in the interface, becomes `value` for one agent.
  virtual void set_param(std::uint32_t /*param*/, std::uint32_t /*agent*/, std::uint32_t /*value*/) {}
};

} // namespace netsim

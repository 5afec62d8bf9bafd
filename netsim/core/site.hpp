// Where agents live: what one of them sees, and what it can set.
//
// An agent is asked by its cohort (cohort.hpp): it is observed, and its event is either taken, so that what it counts
// begins anew, or refused. What is decided is applied when its latency is over, if the agent is still the same.
#pragma once

#include <cstdint>

#include "decider.hpp"
#include "time.hpp"

namespace netsim {

class Site {
public:
  virtual ~Site() = default;
  virtual std::uint32_t agents() const = 0;
  virtual std::uint32_t group(std::uint32_t agent) const = 0; // the device that it is part of: its engines are there
  // Which life of the agent this is (a flow that ended and came back has another); 0 where it is not there.
  virtual std::uint32_t life(std::uint32_t agent) const = 0;
  virtual std::uint32_t next_step(std::uint32_t agent) = 0; // number of the decision it makes now, from 0 in each life

  // A period is over; then, of each agent that is there, whether it has something to decide on.
  virtual void look(Ps /*now*/) {}
  virtual bool asks(std::uint32_t /*agent*/) const { return true; }
  virtual void observe(std::uint32_t agent, Ps now, Knobs event) = 0;
  // The event was taken. `goes_on`: the agent need not wait for the decision before it sees another one.
  virtual void event_taken(std::uint32_t agent, Ps now, bool goes_on) = 0;
  virtual void event_refused(std::uint32_t agent, Ps now) = 0;
  // Nothing was decided on an event that was taken: what it counted goes on counting.
  virtual void undecided(std::uint32_t /*agent*/, Words /*event*/) {}
  // Whose context an agent decides with, by the number of an agent.
  virtual std::uint32_t context(std::uint32_t agent) const { return agent; }
  // `newer` takes the place of an older event of the agent that has not been decided.
  virtual void merge(Words older, Knobs newer) const = 0;

  // The knobs as they were set last, for decisions from outside.
  virtual void in_force(std::uint32_t agent, Knobs knobs) const = 0;
  // What is in force before a decision on `event`, of a first knob that was set to `known` (with the phase above it):
  // what records keep of it. A site whose device changes knobs by itself says otherwise.
  virtual std::uint32_t knob_in_force(std::uint32_t known, Words /*event*/) const { return known; }
  virtual void apply(std::uint32_t agent, Ps now, Words knobs) = 0;
  // Whether an agent waits for the knobs in force where nothing was decided.
  virtual bool applies_late() const { return true; }
};

} // namespace netsim

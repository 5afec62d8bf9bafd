// The engines of the devices (NICs, switches). Each runs one event handler at a time, to its end; events that come
// meanwhile wait.
//
//   agent --its number in its device modulo engines--> [ agents that wait, first come first served ] --> handler -->
//   knobs
//
// An agent has at most one place in the queue, so that what waits is kept by agent and the queue holds their numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "config.hpp"
#include "decider.hpp"
#include "histogram.hpp"
#include "ring.hpp"
#include "site.hpp"
#include "time.hpp"

namespace netsim {

// Totals since the start. Every event is in exactly one place: decided, dropped, coalesced, expired, or it waits.
struct EngineCounters {
  std::uint64_t events = 0;
  std::uint64_t decided = 0;    // handed to the decider
  std::uint64_t dropped = 0;    // found the queue full
  std::uint64_t coalesced = 0;  // a newer one of the agent came while they waited
  std::uint64_t expired = 0;    // their agent was gone before their turn
  std::uint64_t applied = 0;    // decisions that took effect
  std::uint64_t wait_ps = 0;    // of those decided, from the event to the handler
  std::uint64_t latency_ps = 0; // of those applied, from the event to the knobs
  std::uint64_t service_ps = 0; // of those decided
  std::uint64_t queue_ps = 0;   // places taken in all queues, over time
};

struct Engine {
  Ring<std::uint32_t> waiting{1}; // agents
  bool busy = false;
  std::uint32_t agent = 0; // whose event is handled
  std::uint32_t life = 0;
  Ps event_at = 0;
  Ps began = 0;
  std::uint64_t busy_ps = 0; // handlers that have ended
  std::uint64_t decided = 0;
};

// What is measured between two resets of the window.
struct EngineWindow {
  EngineCounters at_begin;
  std::vector<std::uint64_t> busy_ps, decided; // of each engine
  Histogram wait, latency;
  Ps wait_max = 0, latency_max = 0;
  std::size_t queue_max = 0;
};

enum class Offer { taken, queued, merged, dropped };

class Engines {
public:
  struct Place {
    Ps event_at = 0;
    std::uint32_t life = 0;
    bool waits = false;
  };

  // No engine is made that no agent belongs to.
  Engines(const EngineConfig &config, const Shape &shape, const Site &site);

  // An event comes. Taken: its engine is idle and has to begin with it now.
  Offer offer(Ps now, std::uint32_t agent, std::uint32_t life, Knobs event, const Site &site);
  // The handler of the agent's event runs from now on, and for `takes`; then its knobs hold.
  void begin(Ps now, std::uint32_t agent, Ps takes, Words knobs);
  // The handler that ends first has ended; its engine is idle.
  std::uint32_t end();
  // The next agent that waits at an engine, off its queue; false where none does.
  bool next(Ps now, std::uint32_t engine, std::uint32_t &agent);

  bool coalesces() const { return config_.overload == Overload::coalesce; }
  Ps first_end() const { return ends_.empty() ? kLatest : ends_.top().first; }
  const Engine &engine(std::uint32_t e) const { return engines_[e]; }
  const std::vector<Engine> &all() const { return engines_; }
  const Place &place(std::uint32_t agent) const { return places_[agent]; }
  Words event(std::uint32_t agent) const { return {&events_[std::size_t{agent} * shape_.signals], shape_.signals}; }
  Words knobs(std::uint32_t e) const { return {&knobs_[std::size_t{e} * shape_.knobs], shape_.knobs}; }

  void expired() { ++counters_.expired; }
  void applied(Ps now, Ps event_at);
  void reset_window(Ps now);
  EngineCounters totals(Ps now) const;               // with the time that has passed since the last change
  std::uint64_t busy(std::uint32_t e, Ps now) const; // of an engine, handlers under way too
  std::uint64_t waiting() const;                     // by walking the queues
  bool holds() const {
    return counters_.events ==
           counters_.decided + counters_.dropped + counters_.coalesced + counters_.expired + waiting();
  }
  const EngineWindow &window() const { return window_; }

private:
  void keep(std::uint32_t agent, const Place &place, Words event);
  void queues_change(Ps now, int by);

  EngineConfig config_;
  Shape shape_;
  std::vector<std::uint32_t> of_;     // of each agent
  std::vector<Place> places_;         // of each agent
  std::vector<std::uint32_t> events_; // of each agent, the one that waits or is handled
  std::vector<Engine> engines_;
  std::vector<std::uint32_t> knobs_;        // of each engine, what its handler has found
  using End = std::pair<Ps, std::uint32_t>; // when, engine: one each that is busy
  std::priority_queue<End, std::vector<End>, std::greater<End>> ends_;
  std::uint64_t queued_ = 0; // in all queues
  Ps changed_ = 0;
  EngineCounters counters_;
  EngineWindow window_;
};

} // namespace netsim

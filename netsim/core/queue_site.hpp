// Agents that are queues of switch ports (decision/ir/interfaces/queue_marking.py): one a port and traffic class. A
// queue is told what happened in it since its last decision, and sets the thresholds of its marking.
#pragma once

#include <cstdint>
#include <vector>

#include "network.hpp"
#include "site.hpp"
#include "site_kind.hpp"

namespace netsim {

class QueueSite final : public Site {
public:
  enum Signal : std::size_t { queue_bytes, sent_bytes, marked_bytes };
  enum Knob : std::size_t { kmin_bytes, kmax_bytes, pmax_q16, triggered }; // the last only says how it was decided

  explicit QueueSite(const Surroundings &around);

  std::uint32_t agents() const override { return static_cast<std::uint32_t>(queues_.size()); }
  std::uint32_t group(std::uint32_t queue) const override { return n_.fabric.ports()[port(queue)].node; }
  std::uint32_t life(std::uint32_t) const override { return 1; }
  std::uint32_t next_step(std::uint32_t queue) override { return queues_[queue].step++; }
  void observe(std::uint32_t queue, Ps now, Knobs event) override;
  void event_taken(std::uint32_t queue, Ps now, bool goes_on) override;
  void event_refused(std::uint32_t, Ps) override {} // what was counted goes on counting
  void merge(Words older, Knobs newer) const override;
  void in_force(std::uint32_t queue, Knobs knobs) const override;
  void apply(std::uint32_t queue, Ps now, Words knobs) override;

private:
  struct Queue {
    SentBytes counted; // when the last event was taken
    std::uint32_t step = 0;
  };

  std::uint32_t port(std::uint32_t queue) const { return queue / classes_; }
  std::uint32_t klass(std::uint32_t queue) const { return queue % classes_; }

  Network &n_;
  std::uint32_t classes_;
  std::vector<Queue> queues_; // of a port's classes in turn
};

} // namespace netsim

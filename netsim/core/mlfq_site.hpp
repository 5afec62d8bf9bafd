// The one agent of a network (decision/ir/interfaces/mlfq_thresholds.py) that sets the thresholds by which flows fall
// from class to class (demotion.hpp). It is told which flows have finished since its last decision, by their size.
#pragma once

#include <cstdint>

#include "finished.hpp"
#include "network.hpp"
#include "site.hpp"
#include "site_kind.hpp"

namespace netsim {

class MlfqSite final : public Site {
public:
  enum OfBin : std::size_t { flows_q16, alone_q6, took_q6, kOfBin };
  enum Signal : std::size_t { all_q16 = kOfBin * Finished::kBins, rates_q16, kSignals };

  explicit MlfqSite(const Surroundings &around) : n_(around.network) {}

  std::uint32_t agents() const override { return 1; }
  std::uint32_t group(std::uint32_t) const override { return 0; }
  std::uint32_t life(std::uint32_t) const override { return 1; }
  std::uint32_t next_step(std::uint32_t) override { return step_++; }
  void observe(std::uint32_t, Ps, Knobs event) override;
  void event_taken(std::uint32_t, Ps, bool) override { counted_ = n_.finished; }
  void event_refused(std::uint32_t, Ps) override {} // what was counted goes on counting
  void merge(Words older, Knobs newer) const override;
  void in_force(std::uint32_t, Knobs knobs) const override;
  void apply(std::uint32_t, Ps, Words knobs) override;

private:
  Network &n_;
  Finished counted_{}; // when the last event was taken
  std::uint32_t step_ = 0;
};

} // namespace netsim

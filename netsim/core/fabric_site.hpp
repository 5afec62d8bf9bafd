// The agent of a fabric (decision/ir/interfaces/fabric_marking.py), one a traffic class: it is told what happened in
// all queues of a layer since its last decision, and sets the marking of all of them alike. A port leads up where the
// switch behind its link is farther from the machines than its own, and down where it is nearer, or a machine.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "network.hpp"
#include "site.hpp"
#include "site_kind.hpp"

namespace netsim {

class FabricSite final : public Site {
public:
  enum Layer : std::size_t { up, down, kLayers };
  enum OfLayer : std::size_t { queue_bytes, longest_bytes, sent_bytes, marked_bytes, kOfLayer };
  using Ports = std::array<std::vector<std::uint32_t>, kLayers>;

  explicit FabricSite(const Surroundings &around);

  std::uint32_t agents() const override { return static_cast<std::uint32_t>(classes_.size()); }
  std::uint32_t group(std::uint32_t) const override { return 0; }
  std::uint32_t life(std::uint32_t) const override { return 1; }
  std::uint32_t next_step(std::uint32_t klass) override { return classes_[klass].step++; }
  void observe(std::uint32_t klass, Ps now, Knobs event) override;
  void taken(std::uint32_t klass, Ps now, bool goes_on) override;
  void refused(std::uint32_t, Ps) override {} // what was counted goes on counting
  void merge(Words older, Knobs newer) const override;
  void in_force(std::uint32_t klass, Knobs knobs) const override;
  void apply(std::uint32_t klass, Ps now, Words knobs) override;

private:
  struct Class {
    std::array<SentBytes, kLayers> counted; // when the last event was taken
    std::uint32_t step = 0;
  };

  SentBytes sent(Layer layer, std::uint32_t klass, Ps now) const;

  Network &n_;
  Ports ports_; // of each layer
  std::vector<Class> classes_;
};

} // namespace netsim

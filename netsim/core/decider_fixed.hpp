// A setting that stays as it is, in the place of what would decide.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "decider.hpp"

namespace netsim {

class FixedDecider final : public Decider {
public:
  explicit FixedDecider(std::vector<std::uint32_t> knobs) : knobs_(std::move(knobs)) {}

  void first(std::uint32_t, Knobs knobs) override {
    std::copy_n(knobs_.begin(), std::min(knobs.size(), knobs_.size()), knobs.begin());
  }
  void reset(std::uint32_t) override {}
  Decision decide(std::uint32_t, Words, Knobs knobs) override {
    std::copy(knobs_.begin(), knobs_.end(), knobs.begin());
    return {};
  }
  std::uint32_t knobs() const { return static_cast<std::uint32_t>(knobs_.size()); }

private:
  std::vector<std::uint32_t> knobs_;
};

} // namespace netsim

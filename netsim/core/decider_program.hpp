// The integer decision program (decision/ir/program.py) in the place of the C that is printed from it.
#pragma once

#include <cstdint>
#include <vector>

#include "contexts.hpp"
#include "decider.hpp"
#include "program.hpp"

namespace netsim {

class ProgramDecider final : public Decider {
public:
  // Throws std::invalid_argument where the program is not well formed.
  ProgramDecider(ProgramConfig program, const DeviceConfig &config, std::uint32_t agents);

  std::uint32_t initial(std::uint32_t agent) override {
    return config_.initial < 0 ? 0 : params_.of(agent)[config_.initial];
  }
  void first(std::uint32_t agent, Knobs knobs) override {
    if (following_)
      following_.set(initial(agent), params_.of(agent), knobs);
  }
  void reset(std::uint32_t agent) override;
  Decision decide(std::uint32_t agent, Words event, Knobs knobs) override;
  void set_param(std::uint32_t param, std::uint32_t agent, std::uint32_t value) override {
    params_.set(param, agent, value);
  }
  Params &params() { return params_; }

  // The value of every node for one input, and the context that it would write back (for tests).
  std::vector<std::int64_t> trace(const std::vector<std::uint32_t> &event, const std::vector<std::int64_t> &context);

private:
  Program program_;
  DeviceConfig config_;
  Following following_;
  Params params_;
  std::vector<std::int64_t> contexts_; // one an agent, its fields in order
};

} // namespace netsim

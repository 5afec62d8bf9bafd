// An emulated core decides, and says how many cycles that took it: the seam of decision/include/rlcc_decider.h.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "contexts.hpp"
#include "decider.hpp"
#include "rlcc_decider.h"

namespace netsim {

// The core left its bounds; what() is its own sentence.
struct DeciderFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class CoreDecider final : public Decider {
public:
  // `core` outlives this. Throws std::invalid_argument where it is of another version or size.
  CoreDecider(const rlcc_decider &core, std::uint32_t context_bytes, double clock_mhz, const DeviceConfig &config,
              std::uint32_t agents);

  bool timed() const override { return true; }
  std::uint32_t initial(std::uint32_t agent) override { return contexts_.initial(agent); }
  void first(std::uint32_t agent, Knobs knobs) override { contexts_.first(agent, knobs); }
  void reset(std::uint32_t agent) override { contexts_.reset(agent); }
  Decision decide(std::uint32_t agent, Words event, Knobs knobs) override;
  void set_param(std::uint32_t param, std::uint32_t agent, std::uint32_t value) override {
    contexts_.params.set(param, agent, value);
  }
  Params &params() { return contexts_.params; }
  std::uint64_t cycles() const { return cycles_; } // of all decisions together
  std::uint64_t cycles_max() const { return cycles_max_; }

private:
  const rlcc_decider &core_;
  double ps_per_cycle_;
  Contexts contexts_;
  std::uint64_t cycles_ = 0, cycles_max_ = 0;
};

} // namespace netsim

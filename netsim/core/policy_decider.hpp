// An emulated core decides, and says how many cycles that took it: the seam of spec/include/rlcc_decider.h.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "contexts.hpp"
#include "policy.hpp"
#include "rlcc_decider.h"

namespace netsim {

// The core left its bounds; what() is its own sentence.
struct DeciderFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class DeciderPolicy final : public Policy {
public:
  // `decider` outlives the policy. Throws std::invalid_argument where it is of another version or size.
  DeciderPolicy(const rlcc_decider &decider, std::uint32_t context_bytes, double clock_mhz, const Params &params,
                std::uint32_t flows);

  double initial_rate() const override { return contexts_.initial_rate(); }
  bool timed() const override { return true; }
  void reset(std::uint32_t flow) override { contexts_.reset(flow); }
  Decision decide(std::uint32_t flow, const Event &event) override;

  void set_base_rtt_recips(std::vector<std::uint32_t> q32) { contexts_.set_base_rtt_recips(std::move(q32)); }
  std::uint64_t cycles() const { return cycles_; } // of all decisions together
  std::uint64_t cycles_max() const { return cycles_max_; }

private:
  const rlcc_decider &decider_;
  double ps_per_cycle_;
  Contexts contexts_;
  std::uint64_t cycles_ = 0, cycles_max_ = 0;
};

} // namespace netsim

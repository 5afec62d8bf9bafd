#include "decider_core.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace netsim {

namespace {
constexpr double kLongest = 100e12; // ps: a decision that takes longer than a run may last has left its bounds
} // namespace

CoreDecider::CoreDecider(const rlcc_decider &core, std::uint32_t context_bytes, double clock_mhz,
                         const DeviceConfig &config, std::uint32_t agents)
    : core_(core), ps_per_cycle_(1e6 / clock_mhz), contexts_(context_bytes, config, agents) {
  if (core.version != RLCC_DECIDER_VERSION)
    throw std::invalid_argument("it is of version " + std::to_string(core.version) + ", and " +
                                std::to_string(RLCC_DECIDER_VERSION) + " is needed");
  if (core.context_bytes != context_bytes)
    throw std::invalid_argument("its context has " + std::to_string(core.context_bytes) + " bytes, not " +
                                std::to_string(context_bytes));
}

Decision CoreDecider::decide(std::uint32_t agent, Words event, Knobs knobs) {
  const std::uint32_t before = contexts_.in_force(agent);
  contexts_.remember(agent);
  std::fill(knobs.begin(), knobs.end(), 0);
  const std::uint64_t cycles =
      core_.decide(core_.self, contexts_.of(agent), event.data(), contexts_.params.of(agent), knobs.data());
  if (cycles == 0)
    throw DeciderFault(core_.fault(core_.self));
  const double takes = static_cast<double>(cycles) * ps_per_cycle_;
  if (takes > kLongest)
    throw DeciderFault("a decision takes " + std::to_string(cycles) + " cycles");
  Decision decision = contexts_.decision(agent, before, knobs);
  decision.takes = std::max<Ps>(std::llround(takes), 1);
  cycles_ += cycles;
  cycles_max_ = std::max(cycles_max_, cycles);
  return decision;
}

} // namespace netsim

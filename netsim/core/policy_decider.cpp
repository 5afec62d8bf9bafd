#include "policy_decider.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace netsim {

namespace {
constexpr double kLongest = 100e12; // ps: a decision that takes longer than a run may last has left its bounds
} // namespace

DeciderPolicy::DeciderPolicy(const rlcc_decider &decider, std::uint32_t context_bytes, double clock_mhz,
                             const Params &params, std::uint32_t flows)
    : decider_(decider), ps_per_cycle_(1e6 / clock_mhz), contexts_(context_bytes, params, flows) {
  if (decider.version != RLCC_DECIDER_VERSION)
    throw std::invalid_argument("it is of version " + std::to_string(decider.version) + ", and " +
                                std::to_string(RLCC_DECIDER_VERSION) + " is needed");
  if (decider.context_bytes != context_bytes)
    throw std::invalid_argument("its context has " + std::to_string(decider.context_bytes) + " bytes, not " +
                                std::to_string(context_bytes));
}

Decision DeciderPolicy::decide(std::uint32_t flow, const Event &event) {
  const std::uint32_t before = contexts_.rate_q30(flow);
  std::uint32_t rate_q20 = 0;
  const std::uint64_t cycles =
      decider_.decide(decider_.self, contexts_.of(flow), &event, &contexts_.params(flow), &rate_q20);
  if (cycles == 0)
    throw DeciderFault(decider_.fault(decider_.self));
  const double takes = static_cast<double>(cycles) * ps_per_cycle_;
  if (takes > kLongest)
    throw DeciderFault("a decision takes " + std::to_string(cycles) + " cycles");
  Decision decision = contexts_.decision(flow, before, rate_q20);
  decision.takes = std::max<Ps>(std::llround(takes), 1);
  cycles_ += cycles;
  cycles_max_ = std::max(cycles_max_, cycles);
  return decision;
}

} // namespace netsim

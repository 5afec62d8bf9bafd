#include "baseline_hpcc.hpp"

#include <algorithm>

namespace netsim {

Pace Hpcc::start(std::uint32_t flow, Ps, const PathFacts &path) {
  State &s = states_[flow];
  s = State{};
  s.history.start(path);
  return pace(s);
}

Pace Hpcc::on_ack(std::uint32_t flow, const Ack &ack) {
  State &s = states_[flow];
  if (!s.history.comparable(ack))
    return pace(s);
  s.utilisation =
      s.history.smoothed(s.utilisation, ack, [](const Hop &now, const Hop &before, double elapsed, double base_rtt) {
        const double sent = static_cast<double>(now.sent_bytes - before.sent_bytes);
        const double queue = static_cast<double>(std::min(now.queue_bytes, before.queue_bytes));
        return now.ps_per_byte * (queue / base_rtt + sent / elapsed);
      });

  const double excess = s.utilisation / config_.eta;
  const bool added_enough = s.stage >= config_.max_stage;
  const double divisor = std::max(excess, added_enough ? 0.0 : 1.0); // by 1 nothing changes: no branch to foresee
  s.rate = std::min(std::max(s.reference / divisor + config_.additive_step, config_.rate_min), 1.0);
  if (s.history.updates(ack)) {
    s.reference = s.rate;
    s.stage = excess >= 1.0 || added_enough ? 0 : s.stage + 1;
  }
  return pace(s);
}

Pace Hpcc::on_cnp(std::uint32_t flow, Ps) { return pace(states_[flow]); }
Pace Hpcc::on_loss(std::uint32_t flow, Ps) { return pace(states_[flow]); }

} // namespace netsim

#include "baseline_hpcc.hpp"

#include <algorithm>

#include "baseline_windows.hpp"

namespace netsim {

Pace Hpcc::start(std::uint32_t flow, Ps, const PathFacts &path) {
  State &s = states_[flow];
  s = State{};
  s.base_rtt = path.base_rtt;
  s.line_window = bdp_packets(path);
  return pace(s);
}

Pace Hpcc::on_ack(std::uint32_t flow, const Ack &ack) {
  State &s = states_[flow];
  if (ack.hop_count == 0)
    return pace(s);
  if (s.hop_count != ack.hop_count) { // the first: differences need two
    s.hop_count = std::min(ack.hop_count, kMaxHops);
    std::copy_n(ack.hops, s.hop_count, s.hops.begin());
    s.update_psn = ack.next_psn;
    return pace(s);
  }
  measure(s, ack);

  const double excess = s.utilisation / config_.eta;
  const bool added_enough = s.stage >= config_.max_stage;
  const double divisor = std::max(excess, added_enough ? 0.0 : 1.0); // by 1 nothing changes: no branch to foresee
  s.rate = std::min(std::max(s.reference / divisor + config_.additive_step, config_.rate_min), 1.0);
  if (after(ack.acked_psn, s.update_psn)) { // sent after the last update, so it has seen its effect
    s.reference = s.rate;
    s.stage = excess >= 1.0 || added_enough ? 0 : s.stage + 1;
    s.update_psn = ack.next_psn;
  }
  return pace(s);
}

Pace Hpcc::on_cnp(std::uint32_t flow, Ps) { return pace(states_[flow]); }
Pace Hpcc::on_loss(std::uint32_t flow, Ps) { return pace(states_[flow]); }

void Hpcc::measure(State &s, const Ack &ack) const {
  const double base_rtt = static_cast<double>(s.base_rtt);
  double busiest = 0.0;
  double span = 0.0; // tau
  for (std::uint32_t i = 0; i < s.hop_count; ++i) {
    const Hop &now = ack.hops[i];
    const Hop &before = s.hops[i];
    if (now.time <= before.time)
      continue;
    const double elapsed = static_cast<double>(now.time - before.time);
    const double sent = static_cast<double>(now.sent_bytes - before.sent_bytes);
    const double queue = static_cast<double>(std::min(now.queue_bytes, before.queue_bytes));
    const double utilisation = now.ps_per_byte * (queue / base_rtt + sent / elapsed);
    if (utilisation > busiest) {
      busiest = utilisation;
      span = elapsed;
    }
    s.hops[i] = now;
  }
  const double weight = std::min(span / base_rtt, 1.0);
  s.utilisation = (1.0 - weight) * s.utilisation + weight * busiest;
}

} // namespace netsim

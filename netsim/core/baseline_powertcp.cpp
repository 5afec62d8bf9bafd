#include "baseline_powertcp.hpp"

#include <algorithm>
#include <cmath>

#include "baseline_windows.hpp"

namespace netsim {

Pace PowerTcp::start(std::uint32_t flow, Ps, const PathFacts &path) {
  State &s = states_[flow];
  s = State{};
  s.base_rtt = path.base_rtt;
  s.line_window = bdp_packets(path);
  return pace(s);
}

Pace PowerTcp::on_ack(std::uint32_t flow, const Ack &ack) {
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

  const double wanted = s.reference * config_.target / s.power + config_.additive_step;
  const double mixed = config_.gain * wanted + (1.0 - config_.gain) * s.reference;
  s.rate = std::clamp(mixed, config_.rate_min, 1.0);
  if (after(ack.acked_psn, s.update_psn)) { // sent after the last update, so it has seen its effect
    s.reference = s.rate;
    s.update_psn = ack.next_psn;
  }
  return pace(s);
}

Pace PowerTcp::on_cnp(std::uint32_t flow, Ps) { return pace(states_[flow]); }
Pace PowerTcp::on_loss(std::uint32_t flow, Ps) { return pace(states_[flow]); }

// A packet may leave while less than the window is in flight, so the last one may reach beyond it.
Pace PowerTcp::pace(const State &s) const { return {s.rate, std::ceil(s.rate * s.line_window)}; }

void PowerTcp::measure(State &s, const Ack &ack) const {
  const double base_rtt = static_cast<double>(s.base_rtt);
  double greatest = 0.0;
  double span = 0.0;
  for (std::uint32_t i = 0; i < s.hop_count; ++i) {
    const Hop &now = ack.hops[i];
    const Hop &before = s.hops[i];
    if (now.time <= before.time)
      continue;
    const double elapsed = static_cast<double>(now.time - before.time);
    const double sent = static_cast<double>(now.sent_bytes - before.sent_bytes);
    const double grown = static_cast<double>(now.queue_bytes) - static_cast<double>(before.queue_bytes);
    const double arrival = std::max(now.ps_per_byte * (sent + grown) / elapsed, config_.arrival_floor); // lambda / b
    const double power = arrival * (now.ps_per_byte * now.queue_bytes / base_rtt + 1.0);
    if (power > greatest) {
      greatest = power;
      span = elapsed;
    }
    s.hops[i] = now;
  }
  const double weight = std::min(span / base_rtt, 1.0);
  s.power = (1.0 - weight) * s.power + weight * greatest;
}

} // namespace netsim

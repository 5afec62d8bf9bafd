#include "baseline_powertcp.hpp"

#include <algorithm>

namespace netsim {

Pace PowerTcp::start(std::uint32_t flow, Ps, const PathFacts &path) {
  State &s = states_[flow];
  s = State{};
  s.history.start(path);
  return pace(s);
}

Pace PowerTcp::on_ack(std::uint32_t flow, const Ack &ack) {
  State &s = states_[flow];
  if (!s.history.comparable(ack))
    return pace(s);
  s.power =
      s.history.smoothed(s.power, ack, [this](const Hop &now, const Hop &before, double elapsed, double base_rtt) {
        const double sent = static_cast<double>(now.sent_bytes - before.sent_bytes);
        const double grown = static_cast<double>(now.queue_bytes) - static_cast<double>(before.queue_bytes);
        const double arrival = // lambda / b
            std::max(now.ps_per_byte * (sent + grown) / elapsed, config_.arrival_floor);
        return arrival * (now.ps_per_byte * now.queue_bytes / base_rtt + 1.0);
      });

  const double wanted = s.reference * config_.target / s.power + config_.additive_step;
  const double mixed = config_.gain * wanted + (1.0 - config_.gain) * s.reference;
  s.rate = std::clamp(mixed, config_.rate_min, 1.0);
  if (s.history.updates(ack))
    s.reference = s.rate;
  return pace(s);
}

Pace PowerTcp::on_cnp(std::uint32_t flow, Ps) { return pace(states_[flow]); }
Pace PowerTcp::on_loss(std::uint32_t flow, Ps) { return pace(states_[flow]); }

} // namespace netsim

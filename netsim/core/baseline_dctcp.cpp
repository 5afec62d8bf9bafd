#include "baseline_dctcp.hpp"

#include <algorithm>

#include "baseline_windows.hpp"

namespace netsim {

Pace Dctcp::start(std::uint32_t flow, Ps, const PathFacts &path) {
  State &s = states_[flow];
  s = State{};
  const double first = config_.initial_window > 0 ? config_.initial_window : bdp_packets(path);
  s.window = std::clamp(first, config_.window_min, config_.window_max);
  s.alpha = config_.initial_alpha;
  return pace(s);
}

Pace Dctcp::on_ack(std::uint32_t flow, const Ack &ack) {
  State &s = states_[flow];
  s.acked += ack.packets;
  s.marked += ack.marked ? ack.packets : 0;
  s.next_psn = ack.next_psn;
  if (!s.observing) {
    s.observing = true;
    s.window_psn = ack.next_psn;
  } else if (after(ack.acked_psn, s.window_psn) && s.acked > 0) {
    s.alpha = (1.0 - config_.gain) * s.alpha + config_.gain * s.marked / s.acked;
    s.acked = 0;
    s.marked = 0;
    s.window_psn = ack.next_psn;
  }

  if (s.reduced && after(ack.acked_psn, s.cut_psn))
    s.reduced = false;
  if (s.reduced)
    return pace(s);
  if (ack.marked)
    cut(s, 1.0 - s.alpha / 2.0);
  else
    s.window = std::min(s.window + config_.additive_step * ack.packets / s.window, config_.window_max);
  return pace(s);
}

Pace Dctcp::on_cnp(std::uint32_t flow, Ps) { return pace(states_[flow]); }

Pace Dctcp::on_loss(std::uint32_t flow, Ps) {
  State &s = states_[flow];
  if (!s.reduced)
    cut(s, 0.5);
  return pace(s);
}

void Dctcp::cut(State &s, double factor) const {
  s.window = std::max(s.window * factor, config_.window_min);
  s.cut_psn = s.next_psn;
  s.reduced = true;
}

} // namespace netsim

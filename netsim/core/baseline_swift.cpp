#include "baseline_swift.hpp"

#include <algorithm>
#include <cmath>

#include "baseline_windows.hpp"

namespace netsim {

Swift::Swift(const SwiftConfig &config, std::uint32_t flows) : config_(config), states_(flows) {
  const double lowest = 1.0 / std::sqrt(config.scaling_window_max);
  slope_ = static_cast<double>(config.scaling_range) / (1.0 / std::sqrt(config.scaling_window_min) - lowest);
  offset_ = -slope_ * lowest;
}

Pace Swift::start(std::uint32_t flow, Ps, const PathFacts &path) {
  State &s = states_[flow];
  s = State{};
  const double first = config_.initial_window > 0 ? config_.initial_window : bdp_packets(path);
  s.window = std::clamp(first, config_.window_min, config_.window_max);
  s.path_target = static_cast<double>(config_.base_target) + static_cast<double>(config_.hop_target) * path.hops;
  s.packet_time = static_cast<double>(path.line_ps_per_byte) * path.data_wire_bytes;
  s.rtt = path.base_rtt;
  return pace(s);
}

Pace Swift::on_ack(std::uint32_t flow, const Ack &ack) {
  State &s = states_[flow];
  const bool may_decrease = s.may_decrease(ack.now); // by the RTT before this one, as its authors' code does
  s.rtt = ack.rtt;
  const double delay = static_cast<double>(ack.rtt);
  const double goal = target(s);
  if (delay < goal) {
    const double step = config_.additive_step * ack.packets;
    s.window = std::min(s.window + (s.window >= 1.0 ? step / s.window : step), config_.window_max);
  } else if (may_decrease) {
    const double factor = 1.0 - config_.decrease * (delay - goal) / delay;
    decrease(s, ack.now, std::max(factor, 1.0 - config_.decrease_max));
  }
  return pace(s);
}

Pace Swift::on_cnp(std::uint32_t flow, Ps) { return pace(states_[flow]); }

Pace Swift::on_loss(std::uint32_t flow, Ps now) {
  State &s = states_[flow];
  if (s.may_decrease(now))
    decrease(s, now, 1.0 - config_.decrease_max);
  return pace(s);
}

// A window under one packet: one in flight, and rtt / window from one to the next.
Pace Swift::pace(const State &s) const {
  if (s.window >= 1.0)
    return {1.0, s.window};
  return {std::min(1.0, s.window * s.packet_time / static_cast<double>(s.rtt)), 1.0};
}

double Swift::target(const State &s) const {
  const double scaling = slope_ / std::sqrt(s.window) + offset_;
  return s.path_target + std::clamp(scaling, 0.0, static_cast<double>(config_.scaling_range));
}

void Swift::decrease(State &s, Ps now, double factor) const {
  const double lower = std::max(s.window * factor, config_.window_min);
  if (lower < s.window) {
    s.window = lower;
    s.decreased_at = now;
    s.has_decreased = true;
  }
}

} // namespace netsim

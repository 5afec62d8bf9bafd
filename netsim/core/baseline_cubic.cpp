#include "baseline_cubic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "baseline_windows.hpp"

namespace netsim {

namespace {

constexpr double kLeastThreshold = 2.0; // section 4.6
constexpr double kMostStep = 1.5;       // of the window, an RTT: section 4.2
constexpr double kSecondsPerPs = 1e-12;

} // namespace

Pace Cubic::start(std::uint32_t flow, Ps, const PathFacts &) {
  State &s = states_[flow];
  s = State{};
  s.window = std::min(config_.initial_window, config_.window_max);
  s.threshold = std::numeric_limits<double>::infinity();
  return pace(s);
}

Pace Cubic::on_ack(std::uint32_t flow, const Ack &ack) {
  State &s = states_[flow];
  s.next_psn = ack.next_psn;
  if (s.reduced && after(ack.acked_psn, s.cut_psn))
    s.reduced = false;
  if (s.reduced)
    return pace(s);
  if (s.window < s.threshold)
    s.window += ack.packets; // section 4.10
  else
    grow(s, ack);
  s.window = std::min(s.window, config_.window_max);
  return pace(s);
}

Pace Cubic::on_cnp(std::uint32_t flow, Ps) { return pace(states_[flow]); }

Pace Cubic::on_loss(std::uint32_t flow, Ps) {
  State &s = states_[flow];
  if (!s.reduced) {
    cut(s);
    s.window = s.threshold;
    s.cut_psn = s.next_psn;
    s.reduced = true;
  }
  return pace(s);
}

// Section 4.8: the next epoch begins flat, at the window that slow start ends with.
Pace Cubic::on_timeout(std::uint32_t flow, Ps) {
  State &s = states_[flow];
  cut(s);
  s.window = 1.0;
  s.window_before = 0;
  s.reduced = false;
  return pace(s);
}

double Cubic::cubic(const State &s, double seconds) const {
  const double from_flat = seconds - s.flat_after;
  return config_.scale * from_flat * from_flat * from_flat + s.window_before;
}

// Congestion avoidance: sections 4.2 to 4.5.
void Cubic::grow(State &s, const Ack &ack) const {
  if (!s.growing) {
    s.growing = true;
    s.epoch = ack.now;
    s.reno = s.window;
    s.window_before = std::max(s.window_before, s.window);
    s.flat_after = std::cbrt((s.window_before - s.window) / config_.scale);
  }
  const double seconds = static_cast<double>(ack.now - s.epoch) * kSecondsPerPs;
  const double rtt = static_cast<double>(ack.rtt) * kSecondsPerPs;
  const double reno_step = s.reno < s.window_cut ? 3.0 * (1.0 - config_.decrease) / (1.0 + config_.decrease) : 1.0;
  s.reno += reno_step * ack.packets / s.window;
  if (cubic(s, seconds) < s.reno) {
    s.window = std::max(s.window, s.reno);
    return;
  }
  const double target = std::clamp(cubic(s, seconds + rtt), s.window, kMostStep * s.window);
  s.window += (target - s.window) / s.window * ack.packets;
}

// Sections 4.6 and 4.7.
void Cubic::cut(State &s) const {
  const bool lower = s.window < s.window_before;
  s.window_before = config_.fast_convergence && lower ? s.window * (1.0 + config_.decrease) / 2.0 : s.window;
  s.window_cut = s.window;
  s.threshold = std::max(s.window * config_.decrease, kLeastThreshold);
  s.growing = false;
}

} // namespace netsim

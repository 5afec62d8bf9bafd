#include "baseline_timely.hpp"

#include <algorithm>

#include "baseline_windows.hpp"

namespace netsim {

Pace Timely::start(std::uint32_t flow, Ps, const PathFacts &) {
  states_[flow] = State{};
  return {1.0};
}

Pace Timely::on_ack(std::uint32_t flow, const Ack &ack) {
  State &s = states_[flow];
  if (s.rtt == 0) { // the first: a gradient needs two
    s.rtt = ack.rtt;
    s.update_psn = ack.next_psn;
    return {s.rate};
  }
  if (!after(ack.acked_psn, s.update_psn)) // once an RTT
    return {s.rate};

  const double newest = static_cast<double>(ack.rtt - s.rtt);
  s.difference = (1.0 - config_.weight) * s.difference + config_.weight * newest;
  const double gradient = s.difference / static_cast<double>(config_.min_rtt);
  s.rtt = ack.rtt;
  s.update_psn = ack.next_psn;

  if (ack.rtt < config_.low || (ack.rtt <= config_.high && gradient <= 0.0)) {
    s.rate += s.increases < config_.hyper_after ? config_.additive_step : config_.hyper_step;
    ++s.increases;
  } else {
    const double excess =
        ack.rtt > config_.high ? 1.0 - static_cast<double>(config_.high) / static_cast<double>(ack.rtt) : gradient;
    s.rate *= std::max(1.0 - config_.decrease * excess, 0.0);
    s.increases = 0;
  }
  s.rate = std::clamp(s.rate, config_.rate_min, 1.0);
  return {s.rate};
}

Pace Timely::on_cnp(std::uint32_t flow, Ps) { return {states_[flow].rate}; }
Pace Timely::on_loss(std::uint32_t flow, Ps) { return {states_[flow].rate}; }

} // namespace netsim

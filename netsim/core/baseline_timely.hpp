// TIMELY ([TIMELY] algorithm 1): the rate follows the gradient of the RTT between two thresholds.
#pragma once

#include <cstdint>
#include <vector>

#include "baseline.hpp"

namespace netsim {

// Rates and steps are fractions of line rate.
struct TimelyConfig {
  double weight = 0.875; // of the newest RTT difference (alpha)
  double decrease = 0.8; // beta
  Ps low = 50'000'000;   // T_low: below it the rate rises whatever the gradient
  Ps high = 500'000'000; // T_high: above it the rate falls whatever the gradient
  Ps min_rtt = 20'000'000;
  double additive_step = 1e-3;
  double hyper_step = 5e-3;
  std::uint32_t hyper_after = 5; // increases in a row
  double rate_min = 1e-5;
};

class Timely final : public Baseline {
public:
  Timely(const TimelyConfig &config, std::uint32_t flows) : config_(config), states_(flows) {}

  std::uint32_t flows() const { return static_cast<std::uint32_t>(states_.size()); }

  Pace start(std::uint32_t flow, Ps now, const PathFacts &path) override;
  Pace on_ack(std::uint32_t flow, const Ack &ack) override;
  Pace on_cnp(std::uint32_t flow, Ps now) override;  // nothing
  Pace on_loss(std::uint32_t flow, Ps now) override; // nothing: the RTT alone steers

private:
  struct State {
    double rate = 1.0;
    double difference = 0.0; // smoothed, ps
    Ps rtt = 0;              // of the last update; 0: none yet
    std::uint32_t update_psn = 0;
    std::uint32_t increases = 0; // in a row
  };

  TimelyConfig config_;
  std::vector<State> states_;
};

} // namespace netsim

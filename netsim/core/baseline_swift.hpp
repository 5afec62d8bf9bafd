// Swift ([SWIFT] algorithm 1): the window holds the fabric's delay at a target that grows with the path's length
// and with 1 / sqrt(window). Receivers add no delay here, so there is no second window for them.
#pragma once

#include <cstdint>
#include <vector>

#include "baseline.hpp"

namespace netsim {

// Windows are in packets.
struct SwiftConfig {
  Ps base_target = 20'000'000;
  Ps hop_target = 3'053'435;       // more for each switch on the path
  Ps scaling_range = 100'000'000;  // fs_range: the most that flow scaling adds
  double scaling_window_min = 0.1; // fs_min_cwnd: it adds all of the range here
  double scaling_window_max = 100; // fs_max_cwnd: and nothing from here on
  double additive_step = 1.0;      // ai
  double decrease = 0.8;           // beta
  double decrease_max = 0.5;       // max_mdf
  double window_min = 0.001;
  double window_max = 1000;
  double initial_window = 0; // 0: the path's BDP
};

class Swift final : public Baseline {
public:
  Swift(const SwiftConfig &config, std::uint32_t flows);

  std::uint32_t flows() const { return static_cast<std::uint32_t>(states_.size()); }

  Pace start(std::uint32_t flow, Ps now, const PathFacts &path) override;
  Pace on_ack(std::uint32_t flow, const Ack &ack) override;
  Pace on_cnp(std::uint32_t flow, Ps now) override; // nothing
  Pace on_loss(std::uint32_t flow, Ps now) override;

private:
  struct State {
    double window = 1.0;
    double path_target = 0.0; // ps: base and hops
    double packet_time = 0.0; // ps at line rate
    Ps rtt = 0;               // the newest
    Ps decreased_at = 0;
    bool has_decreased = false;

    bool may_decrease(Ps now) const { return !has_decreased || now - decreased_at >= rtt; } // once an RTT
  };

  Pace pace(const State &s) const;
  double target(const State &s) const;
  void decrease(State &s, Ps now, double factor) const;

  SwiftConfig config_;
  double slope_;  // alpha of the paper, ps
  double offset_; // beta of the paper, ps
  std::vector<State> states_;
};

} // namespace netsim

// HPCC ([HPCC] algorithm 1): switches stamp queue length and bytes sent into packets (INT); the sender estimates
// how much of the busiest link's BDP is in flight and steers its window to eta of it.
#pragma once

#include <cstdint>
#include <vector>

#include "baseline.hpp"
#include "baseline_hops.hpp"

namespace netsim {

struct HpccConfig {
  double eta = 0.95;           // target utilisation
  std::uint32_t max_stage = 5; // additive increases in a row before a multiplicative one
  double additive_step = 4e-4; // W_ai, in windows at line rate
  double rate_min = 1e-5;      // of line rate
};

class Hpcc final : public Baseline {
public:
  Hpcc(const HpccConfig &config, std::uint32_t flows) : config_(config), states_(flows) {}

  std::uint32_t flows() const { return static_cast<std::uint32_t>(states_.size()); }

  Pace start(std::uint32_t flow, Ps now, const PathFacts &path) override;
  Pace on_ack(std::uint32_t flow, const Ack &ack) override;
  Pace on_cnp(std::uint32_t flow, Ps now) override;  // nothing
  Pace on_loss(std::uint32_t flow, Ps now) override; // nothing: the window holds what may be in flight

private:
  // Windows are kept as fractions of the one at line rate, and so are rates too (R = W / T).
  struct State {
    double utilisation = 1.0; // U
    double reference = 1.0;   // W^c, moved once an RTT
    double rate = 1.0;        // W
    std::uint32_t stage = 0;  // incStage
    HopHistory history;
  };

  Pace pace(const State &s) const { return s.history.pace(s.rate); }

  HpccConfig config_;
  std::vector<State> states_;
};

} // namespace netsim

// PowerTCP ([POWERTCP] algorithm 1): switches stamp queue length and bytes sent into packets (INT); the sender takes
// the power of the busiest hop, arrival rate times bytes in flight, and divides its window by it.
#pragma once

#include <cstdint>
#include <vector>

#include "baseline.hpp"
#include "baseline_hops.hpp"

namespace netsim {

struct PowerTcpConfig {
  double gain = 0.9;           // gamma
  double target = 0.95;        // power at which the window stays, over that of a full link without a queue
  double arrival_floor = 0.5;  // least arrival rate that is believed, of the hop's rate
  double additive_step = 6e-3; // beta, in windows at line rate
  double rate_min = 4e-3;      // of line rate
};

class PowerTcp final : public Baseline {
public:
  PowerTcp(const PowerTcpConfig &config, std::uint32_t flows) : config_(config), states_(flows) {}

  std::uint32_t flows() const { return static_cast<std::uint32_t>(states_.size()); }

  Pace start(std::uint32_t flow, Ps now, const PathFacts &path) override;
  Pace on_ack(std::uint32_t flow, const Ack &ack) override;
  Pace on_cnp(std::uint32_t flow, Ps now) override;  // nothing
  Pace on_loss(std::uint32_t flow, Ps now) override; // nothing: the window holds what may be in flight

private:
  // Windows are kept as fractions of the one at line rate, and so are rates too.
  struct State {
    double power = 1.0;     // smoothed, over that of a full link without a queue
    double reference = 1.0; // window of an RTT ago
    double rate = 1.0;      // window
    HopHistory history;
  };

  Pace pace(const State &s) const { return s.history.pace(s.rate); }

  PowerTcpConfig config_;
  std::vector<State> states_;
};

} // namespace netsim

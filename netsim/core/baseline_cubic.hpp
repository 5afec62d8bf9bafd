// TCP CUBIC ([CUBIC], RFC 9438) without ECN: a window that grows as a cubic function of the time since it was cut, and
// is cut by losses alone. Slow start is the plain one; section numbers are the RFC's.
#pragma once

#include <cstdint>
#include <vector>

#include "baseline.hpp"

namespace netsim {

// Windows are in packets.
struct CubicConfig {
  double scale = 0.4;    // C, packets / s^3
  double decrease = 0.7; // beta_cubic
  bool fast_convergence = true;
  double window_max = 4096;
  double initial_window = 10;
};

class Cubic final : public Baseline {
public:
  Cubic(const CubicConfig &config, std::uint32_t flows) : config_(config), states_(flows) {}

  std::uint32_t flows() const { return static_cast<std::uint32_t>(states_.size()); }

  Pace start(std::uint32_t flow, Ps now, const PathFacts &path) override;
  Pace on_ack(std::uint32_t flow, const Ack &ack) override;
  Pace on_cnp(std::uint32_t flow, Ps now) override; // nothing: it hears of no marks
  Pace on_loss(std::uint32_t flow, Ps now) override;
  Pace on_timeout(std::uint32_t flow, Ps now) override;

private:
  struct State {
    double window = 1.0;
    double threshold = 0;     // ssthresh
    double window_before = 0; // W_max
    double window_cut = 0;    // cwnd_prior: the window at the last cut
    double reno = 0;          // W_est
    double flat_after = 0;    // K, s
    Ps epoch = 0;
    std::uint32_t cut_psn = 0;  // no second cut until this one is acknowledged
    std::uint32_t next_psn = 0; // as the last ACK said
    bool growing = false;       // a congestion avoidance epoch is under way
    bool reduced = false;       // between a cut and the ACK of cut_psn
  };

  Pace pace(const State &s) const { return {1.0, s.window}; }
  double cubic(const State &s, double seconds) const; // W_cubic, figure 1
  void grow(State &s, const Ack &ack) const;
  void cut(State &s) const;

  CubicConfig config_;
  std::vector<State> states_;
};

} // namespace netsim

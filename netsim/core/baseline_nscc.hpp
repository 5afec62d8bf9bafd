// NSCC of Ultra Ethernet ([UEC]): delay says how much congestion there was, ECN that it goes on. Four cases:
//
//                  not marked                                      marked
//   below target   proportional increase, fast where all is empty  nothing
//   from it on     fair increase: the queue drains                 decrease by the mean delay, once an RTT
//
// Beside them quick adapt, on loss or far beyond the target: the window becomes what arrived in the last RTT.
#pragma once

#include <cstdint>
#include <vector>

#include "baseline.hpp"

namespace netsim {

// Windows and steps are in packets. Steps are those of a path with the reference BDP, and grow with the path's own.
struct NsccConfig {
  Ps network_rtt = 0;  // the base RTT by which target and steps are; 0: each flow's own
  double target = 1.0; // queueing delay, in base RTTs
  double reference_bdp_bytes = 150'000;
  Ps reference_rtt = 12'000'000;
  double proportional_step = 4.0; // an RTT, at no delay, where the target is the reference RTT
  double fair_step = 5.0;         // an RTT
  double steady_step = 0.15;      // eta: an RTT, always
  double fast_share = 0.25;       // of what is acknowledged, once a window came back with less than
  Ps fast_delay = 1'000'000;
  double decrease = 0.8;            // gamma
  double decrease_max = 0.5;        // of the window at once
  double delay_gain = 0.0125;       // of the newest delay in their mean
  double drained_delay = 0.25;      // base RTTs: counts in its place where an unmarked packet had more than the target
  std::uint32_t adjust_packets = 8; // increases take effect after so many packets, or an RTT
  double quick_delay = 4.0;         // quick adapt from this delay on, in targets
  double quick_share = 0.125;       // and only where less than this of the largest window arrived
  double window_min = 1.0;
  double window_max = 1.5; // BDPs; the first window too
};

class Nscc final : public Baseline {
public:
  Nscc(const NsccConfig &config, std::uint32_t flows) : config_(config), states_(flows) {}

  std::uint32_t flows() const { return static_cast<std::uint32_t>(states_.size()); }
  double mean_delay(std::uint32_t flow) const { return states_.at(flow).mean_delay; } // ps

  Pace start(std::uint32_t flow, Ps now, const PathFacts &path) override;
  Pace on_ack(std::uint32_t flow, const Ack &ack) override;
  Pace on_cnp(std::uint32_t flow, Ps now) override; // nothing: marks come back on ACKs
  Pace on_loss(std::uint32_t flow, Ps now) override;

private:
  struct State {
    double window = 1.0;
    double window_max = 1.0;
    double scale = 1.0;      // of the steps: the path's BDP over the reference's
    double mean_delay = 0.0; // ps
    double increase = 0.0;   // packets x packets: divided by the window when it takes effect
    Ps base_rtt = 1;
    Ps scaling_rtt = 1; // by which target and steps are
    Ps adjusted_at = 0;
    Ps decreased_at = 0;
    Ps quick_at = 0;              // quick adapt looks no earlier; 0: it has not looked yet
    std::uint32_t arrived = 0;    // packets acknowledged since it looked last
    std::uint32_t unadjusted = 0; // .. since increases took effect
    std::uint32_t undelayed = 0;  // .. in a row with less than fast_delay
    std::uint32_t in_flight = 0;  // as the last ACK said
    std::uint32_t ignored = 0;    // packets heard of since quick adapt, of
    std::uint32_t to_ignore = 0;  // those under way then: their marks tell what it has dealt with
    bool fast = false;
    bool lost = false; // since quick adapt
  };

  Pace pace(const State &s) const { return {1.0, s.window}; }
  double target(const State &s) const { return config_.target * static_cast<double>(s.scaling_rtt); } // ps
  void average(State &s, double delay, bool marked) const;
  bool quick_adapt(State &s, Ps now, double delay, bool congested, bool loss) const;
  bool increase_fast(State &s, double delay, std::uint32_t packets) const;
  void decrease(State &s, Ps now) const;
  void adjust(State &s, Ps now) const;
  void bound(State &s) const;

  NsccConfig config_;
  std::vector<State> states_;
};

} // namespace netsim

// DCTCP ([DCTCP]): a window that is cut by the share of packets that came back marked.
#pragma once

#include <cstdint>
#include <vector>

#include "baseline.hpp"

namespace netsim {

// Windows are in packets.
struct DctcpConfig {
  double gain = 1.0 / 16; // g
  double initial_alpha = 1.0;
  double additive_step = 1.0; // an RTT
  double window_min = 1.0;
  double window_max = 640;
  double initial_window = 0; // 0: the path's BDP
};

class Dctcp final : public Baseline {
public:
  Dctcp(const DctcpConfig &config, std::uint32_t flows) : config_(config), states_(flows) {}

  std::uint32_t flows() const { return static_cast<std::uint32_t>(states_.size()); }
  double alpha(std::uint32_t flow) const { return states_.at(flow).alpha; }

  Pace start(std::uint32_t flow, Ps now, const PathFacts &path) override;
  Pace on_ack(std::uint32_t flow, const Ack &ack) override;
  Pace on_cnp(std::uint32_t flow, Ps now) override; // nothing: marks come back on ACKs
  Pace on_loss(std::uint32_t flow, Ps now) override;

private:
  struct State {
    double window = 1.0;
    double alpha = 1.0;
    std::uint32_t acked = 0;      // packets of this observation window
    std::uint32_t marked = 0;     // of them
    std::uint32_t window_psn = 0; // the observation window ends when this one is acknowledged
    std::uint32_t cut_psn = 0;    // no second cut until this one is acknowledged
    std::uint32_t next_psn = 0;   // as the last ACK said
    bool observing = false;
    bool reduced = false; // between a cut and the ACK of cut_psn
  };

  Pace pace(const State &s) const { return {1.0, s.window}; }
  void cut(State &s, double factor) const;

  DctcpConfig config_;
  std::vector<State> states_;
};

} // namespace netsim

// A burst of short flows, measured on the long one (PCC-RL, appendix E): from the interruption by the short flows until
// they are done and the long flow is back.
#pragma once

#include <cstdint>

#include "network.hpp"

namespace netsim {

class Recovery {
public:
  explicit Recovery(Network &network)
      : network_(network), long_flow_(network.scenario.long_flow), back_(network.scenario.recovered_rate) {}

  bool watches(std::uint32_t flow) const { return static_cast<std::int64_t>(flow) == long_flow_; }
  std::int64_t long_flow() const { return long_flow_; } // -1: none is measured

  void began(Ps now, std::uint32_t flow) {
    if (long_flow_ < 0 || watches(flow))
      return;
    if (running_ == 0 && begin_ < 0)
      begin_ = now;
    ++running_;
    quiet_ = -1;
  }

  // True where it was the last short flow that was under way.
  bool ended(Ps now) {
    if (long_flow_ < 0 || --running_ != 0)
      return false;
    quiet_ = now;
    return true;
  }

  // The long flow's rate.
  void rate(Ps now, double rate) {
    if (begin_ < 0 || quiet_ < 0 || rate < back_)
      return;
    network_.window.recovery_us.push_back(static_cast<double>(now - begin_) * 1e-6);
    begin_ = -1;
  }

private:
  Network &network_;
  std::int64_t long_flow_;
  double back_;
  Ps begin_ = -1; // the first short flow of this round started
  Ps quiet_ = -1; // the last one was done
  std::uint32_t running_ = 0;
};

} // namespace netsim

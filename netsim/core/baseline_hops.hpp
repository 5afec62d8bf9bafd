// Shared by the algorithms that read INT: hops, and windows as fractions of the one at line rate.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "baseline.hpp"
#include "baseline_windows.hpp"

namespace netsim {

struct HopHistory {
  double line_window = 1.0; // packets
  Ps base_rtt = 1;
  std::uint32_t update_psn = 0;
  std::uint32_t hop_count = 0;
  std::array<Hop, kMaxHops> hops{}; // as the last ACK brought them

  void start(const PathFacts &path) {
    base_rtt = path.base_rtt;
    line_window = bdp_packets(path);
  }

  // Whether an ACK's hops can be set against those before: differences need two, so the first is noted only.
  bool comparable(const Ack &ack) {
    if (ack.hop_count == 0)
      return false;
    if (hop_count == ack.hop_count)
      return true;
    hop_count = std::min(ack.hop_count, kMaxHops);
    std::copy_n(ack.hops, hop_count, hops.begin());
    update_psn = ack.next_psn;
    return false;
  }

  // Whether the packet was sent after the last update, so that it has seen its effect. Then the next is due at `next`.
  bool updates(const Ack &ack) {
    if (!after(ack.acked_psn, update_psn))
      return false;
    update_psn = ack.next_psn;
    return true;
  }

  // The mean moved to the greatest figure of any hop, by the share of a base RTT that has gone by at that hop.
  // `figure(now, before, elapsed, base_rtt)`.
  template <class Figure> double smoothed(double mean, const Ack &ack, const Figure &figure) {
    const double rtt = static_cast<double>(base_rtt);
    double greatest = 0.0;
    double span = 0.0;
    for (std::uint32_t i = 0; i < hop_count; ++i) {
      const Hop &now = ack.hops[i];
      const Hop &before = hops[i];
      if (now.time <= before.time)
        continue;
      const double elapsed = static_cast<double>(now.time - before.time);
      const double found = figure(now, before, elapsed, rtt);
      if (found > greatest) {
        greatest = found;
        span = elapsed;
      }
      hops[i] = now;
    }
    const double weight = std::min(span / rtt, 1.0);
    return (1.0 - weight) * mean + weight * greatest;
  }

  // A packet may leave while less than the window is in flight, so the last one may reach beyond it.
  Pace pace(double rate) const {
    const double window = rate * line_window;
    const auto whole = static_cast<std::int64_t>(window);
    return {rate, static_cast<double>(whole + (static_cast<double>(whole) < window))}; // rounded up
  }
};

} // namespace netsim

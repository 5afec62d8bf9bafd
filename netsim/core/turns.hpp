// When each host's NIC has its next turn, or earlier: NICs need no order among them (sending.hpp), so it is one array,
// and of every 64 of them a time before which none has one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "time.hpp"

namespace netsim {

class Turns {
public:
  explicit Turns(std::size_t hosts) : next_(hosts, kLatest), none_before_((hosts + kGroup - 1) / kGroup, kLatest) {}

  Ps of(std::uint32_t host) const { return next_[host]; }
  void set(std::uint32_t host, Ps time) { // kLatest: it has none
    next_[host] = time;
    Ps &none_before = none_before_[host / kGroup];
    none_before = std::min(none_before, time);
  }
  Ps none_before() const { return *std::min_element(none_before_.begin(), none_before_.end()); }

  // `turn(host)` for each host that has one before `until`, until its next one is later.
  template <class Turn> void take(Ps until, Turn turn) {
    for (std::size_t group = 0; group < none_before_.size(); ++group) {
      if (none_before_[group] >= until)
        continue;
      Ps first = kLatest;
      const std::size_t end = std::min((group + 1) * kGroup, next_.size());
      for (std::size_t host = group * kGroup; host < end; ++host) {
        while (next_[host] < until)
          turn(static_cast<std::uint32_t>(host));
        first = std::min(first, next_[host]);
      }
      none_before_[group] = first;
    }
  }

private:
  static constexpr std::size_t kGroup = 64;
  std::vector<Ps> next_;
  std::vector<Ps> none_before_; // of each group of hosts
};

} // namespace netsim

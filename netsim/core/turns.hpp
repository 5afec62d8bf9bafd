// When each of many has its next turn, or earlier. They need no order among them, as hosts' NICs (sending.hpp) and
// links to receivers (forwarding.hpp), so it is one array, and of every 64 of them a time before which none has one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "time.hpp"

namespace netsim {

class Turns {
public:
  // `apart`: a turn changes nothing at another one.
  Turns(std::size_t hosts, bool apart)
      : next_(hosts, kLatest), none_before_((hosts + kGroup - 1) / kGroup, kLatest), apart_(apart) {}

  Ps of(std::uint32_t host) const { return next_[host]; }
  void set(std::uint32_t host, Ps time) { // kLatest: it has none
    next_[host] = time;
    Ps &none_before = none_before_[host / kGroup];
    none_before = std::min(none_before, time);
  }
  Ps none_before() const { return *std::min_element(none_before_.begin(), none_before_.end()); }

  // `turn(host)` for each host that has one before `until`, until its next one is later. Where hosts are apart they
  // take turns one after the other: until a host's next turn there is time to fetch what it needs.
  template <class Turn> void take(Ps until, Turn turn) {
    for (std::size_t group = 0; group < none_before_.size(); ++group) {
      if (none_before_[group] >= until)
        continue;
      const auto begin = static_cast<std::uint32_t>(group * kGroup);
      const auto end = static_cast<std::uint32_t>(std::min((group + 1) * kGroup, next_.size()));
      std::array<std::uint32_t, kGroup> due;
      std::size_t left = 0;
      for (std::uint32_t host = begin; host < end; ++host) {
        if (!apart_) {
          while (next_[host] < until)
            turn(host);
        } else { // no branch to foresee
          due[left] = host;
          left += next_[host] < until;
        }
      }
      while (left > 0) {
        const std::size_t round = std::exchange(left, 0);
        for (std::size_t i = 0; i < round; ++i) {
          const std::uint32_t host = due[i];
          if (next_[host] < until) // a turn may have asked for others' before its own
            turn(host);
          due[left] = host;
          left += next_[host] < until;
        }
      }
      none_before_[group] = *std::min_element(next_.begin() + begin, next_.begin() + end);
    }
  }

private:
  static constexpr std::size_t kGroup = 64;
  std::vector<Ps> next_;
  std::vector<Ps> none_before_; // of each group of hosts
  bool apart_;
};

} // namespace netsim

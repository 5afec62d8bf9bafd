// A policer in front of a receiver: a token bucket that drops what finds it empty and queues nothing. Tokens are ps of
// the policed rate, so that they are whole; the bucket is kept as the time at which it will be full.
#pragma once

#include <algorithm>
#include <cstdint>

#include "time.hpp"

namespace netsim {

inline constexpr std::uint32_t kPreambleAndGap = 20; // bytes on the wire that belong to no frame

class Policer {
public:
  Policer(Ps ps_per_byte, std::int64_t burst_bytes) : ps_per_byte_(ps_per_byte), burst_(burst_bytes * ps_per_byte) {}

  // Whether a frame of so many bytes passes now; then it takes its tokens.
  bool admits(Ps now, std::uint32_t bytes) {
    const Ps full_at = std::max(full_at_, now) + bytes * ps_per_byte_;
    if (full_at - now > burst_)
      return false;
    full_at_ = full_at;
    return true;
  }

private:
  Ps ps_per_byte_, burst_, full_at_ = 0;
};

} // namespace netsim

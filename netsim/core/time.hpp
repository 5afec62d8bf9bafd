// Time is an integer number of picoseconds: one byte at 100 Gb/s is exactly 80 of them, so a link never carries more
// than its rate by rounding.
#pragma once

#include <cstdint>

namespace netsim {

using Ps = std::int64_t;

// Events are ordered by one 64-bit key: 48 bits of time (281 s), then 16 bits that name the stream and break ties.
inline constexpr int kStreamBits = 16;
inline constexpr Ps kLatest = (Ps{1} << 47) - 1;
inline constexpr std::uint64_t kNever = ~std::uint64_t{0};

inline constexpr Ps kPsPerNs = 1000;

// Whole bytes that a line sends in `time`. Most times are short, and a division of short numbers takes a third as long.
constexpr std::uint32_t bytes_in(Ps time, Ps ps_per_byte) {
  if (static_cast<std::uint64_t>(time) <= ~std::uint32_t{0})
    return static_cast<std::uint32_t>(time) / static_cast<std::uint32_t>(ps_per_byte);
  return static_cast<std::uint32_t>(time / ps_per_byte);
}

constexpr std::uint64_t event_key(Ps time, std::uint32_t stream) {
  return (static_cast<std::uint64_t>(time) << kStreamBits) | stream;
}
constexpr Ps key_time(std::uint64_t key) { return static_cast<Ps>(key >> kStreamBits); }
constexpr std::uint32_t key_stream(std::uint64_t key) { return static_cast<std::uint32_t>(key & 0xFFFF); }

} // namespace netsim

// PCG32 (O'Neill 2014, XSH-RR): small, fast and the same on every platform, unlike the std:: distributions.
#pragma once

#include <cstdint>

namespace netsim {

class Pcg32 {
public:
  Pcg32(std::uint64_t seed, std::uint64_t sequence) : increment_((sequence << 1) | 1) {
    next();
    state_ += seed;
    next();
  }

  std::uint32_t next() {
    const std::uint64_t old = state_;
    state_ = old * 6364136223846793005ULL + increment_;
    const auto xorshifted = static_cast<std::uint32_t>(((old >> 18) ^ old) >> 27);
    const auto rotation = static_cast<std::uint32_t>(old >> 59);
    return (xorshifted >> rotation) | (xorshifted << ((32 - rotation) & 31));
  }

  // Uniform in [0, bound), bound below 2^48: a 64-bit fraction of it (the bias, below 2^-16 of a step, is no concern).
  std::int64_t below(std::int64_t bound) {
    const std::uint64_t high = next();
    const std::uint64_t bits = (high << 32) | next();
    return static_cast<std::int64_t>((static_cast<unsigned __int128>(bits) * static_cast<std::uint64_t>(bound)) >> 64);
  }

  double unit() { return next() * 0x1p-32; }

private:
  std::uint64_t state_ = 0;
  std::uint64_t increment_;
};

// SplitMix64's last steps.
inline std::uint64_t mixed(std::uint64_t value) {
  std::uint64_t z = value + 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}

} // namespace netsim

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

} // namespace netsim

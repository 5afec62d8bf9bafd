// Latencies in logarithmic buckets: 128 a doubling, so a quantile is off by less than 0.8 %.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "time.hpp"

namespace netsim {

class Histogram {
public:
  void add(Ps value) {
    ++buckets_[index(static_cast<std::uint64_t>(value))];
    ++count_;
  }
  void clear() {
    buckets_.fill(0);
    count_ = 0;
  }
  std::uint64_t count() const { return count_; }

  // The middle of the bucket that holds the q-quantile (0 <= q <= 1); 0 where nothing was added.
  double quantile(double q) const {
    if (count_ == 0)
      return 0.0;
    const auto rank = static_cast<std::uint64_t>(q * static_cast<double>(count_ - 1));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen > rank)
        return 0.5 * (lower(i) + lower(i + 1));
    }
    return 0.0;
  }

private:
  static constexpr int kBits = 7;
  static std::size_t index(std::uint64_t value) {
    if (value < (1U << kBits))
      return value;
    const int shift = std::bit_width(value) - 1 - kBits;
    return (static_cast<std::size_t>(shift + 1) << kBits) + ((value >> shift) & ((1U << kBits) - 1));
  }
  static double lower(std::size_t i) {
    if (i < (1U << kBits))
      return static_cast<double>(i);
    const auto shift = static_cast<int>(i >> kBits) - 1;
    const std::uint64_t mantissa = (1U << kBits) | (i & ((1U << kBits) - 1));
    return static_cast<double>(mantissa) * static_cast<double>(std::uint64_t{1} << shift);
  }

  std::array<std::uint64_t, (48 - kBits + 1) << kBits> buckets_{};
  std::uint64_t count_ = 0;
};

} // namespace netsim

// Flows that have finished since the start, by their size: bin b holds those above 4 KiB * 4^(b-1) and up to four times
// that, the first one all up to 4 KiB, the last one all that are longer.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "time.hpp"

namespace netsim {

struct Finished {
  static constexpr std::size_t kBins = 8;
  static constexpr int kFirstBits = 12, kBits = 2;
  static constexpr std::uint32_t kOne = 1U << 16;

  struct Bin {
    std::uint64_t flows = 0;
    std::uint64_t alone_ns = 0; // what they would have taken in an empty network
    std::uint64_t took_ns = 0;
  };

  std::array<Bin, kBins> bins;
  std::uint64_t flows = 0;
  std::uint64_t rates_q16 = 0; // sum over them of size / time, as a share of a NIC's line rate

  static std::size_t bin(std::uint64_t bytes) {
    const int above = static_cast<int>(std::bit_width(bytes - 1)) - kFirstBits;
    return above <= 0 ? 0 : std::min<std::size_t>(static_cast<std::size_t>(above + kBits - 1) / kBits, kBins - 1);
  }

  // `line`: what its bytes alone take on a NIC's line.
  void add(std::uint64_t bytes, Ps alone, Ps took, Ps line) {
    Bin &b = bins[bin(bytes)];
    ++b.flows;
    b.alone_ns += static_cast<std::uint64_t>(alone / kPsPerNs);
    b.took_ns += static_cast<std::uint64_t>(took / kPsPerNs);
    ++flows;
    rates_q16 += static_cast<std::uint64_t>(static_cast<double>(line) / static_cast<double>(took) * kOne);
  }
};

} // namespace netsim

// In-band telemetry: what switches stamp into a packet, kept beside it until the sender has read the ACK.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "baseline.hpp"

namespace netsim {

struct alignas(64) Stamps { // the first hops beside their number: most paths are short
  std::uint32_t count = 0;
  std::array<Hop, kMaxHops> hop;
};

class Telemetry {
public:
  // Slot 0 is that of packets without telemetry.
  std::uint32_t take() {
    if (free_.empty()) {
      stamps_.emplace_back();
      return static_cast<std::uint32_t>(stamps_.size() - 1);
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    stamps_[slot].count = 0;
    return slot;
  }
  void give(std::uint32_t slot) {
    if (slot != 0)
      free_.push_back(slot);
  }
  void stamp(std::uint32_t slot, const Hop &hop) {
    Stamps &stamps = stamps_[slot];
    if (stamps.count < kMaxHops)
      stamps.hop[stamps.count++] = hop;
  }
  const Stamps &operator[](std::uint32_t slot) const { return stamps_[slot]; }

private:
  std::vector<Stamps> stamps_{1};
  std::vector<std::uint32_t> free_;
};

} // namespace netsim

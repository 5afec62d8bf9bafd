// What the algorithms with windows share.
#pragma once

#include <cstdint>

#include "baseline.hpp"

namespace netsim {

// Full packets that fill the path at line rate.
inline double bdp_packets(const PathFacts &path) {
  return static_cast<double>(path.base_rtt) / (static_cast<double>(path.line_ps_per_byte) * path.data_wire_bytes);
}

// Sequence numbers wrap.
constexpr bool after(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) > 0; }

} // namespace netsim

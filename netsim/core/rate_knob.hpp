// A rate as a knob, Q0.30 of line rate.
#pragma once

#include <algorithm>
#include <cstdint>

namespace netsim {

constexpr std::uint32_t kLineRateQ30 = 1U << 30;
constexpr std::uint32_t kSlowest = 1U << 10; // what the device takes for 0, which would stop a flow for good

inline double rate_of_knob(std::uint32_t q30) { return (q30 == 0 ? kSlowest : std::min(q30, kLineRateQ30)) * 0x1p-30; }

} // namespace netsim

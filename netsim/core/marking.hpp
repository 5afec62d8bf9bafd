// How a port's queue marks, as the three knobs that agents set (decision/ir/interfaces/marking.py).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "config.hpp"
#include "decider.hpp"
#include "saturated.hpp"

namespace netsim {

namespace marking {

enum Knob : std::size_t { kmin_bytes, kmax_bytes, pmax_q16, kKnobs };

inline constexpr double kOneQ16 = 65536.0;

// A queue that is given a Kmax below its Kmin marks everything from Kmin on.
inline RedConfig to_red(Words knobs) {
  const double probability = std::min(knobs[pmax_q16] / kOneQ16, 1.0);
  return {knobs[kmin_bytes], std::max(knobs[kmin_bytes], knobs[kmax_bytes]), probability};
}

inline void from_red(const RedConfig &red, Knobs knobs) {
  knobs[kmin_bytes] = saturated(static_cast<std::uint64_t>(red.min_bytes));
  knobs[kmax_bytes] = saturated(static_cast<std::uint64_t>(red.max_bytes));
  knobs[pmax_q16] = static_cast<std::uint32_t>(std::lround(red.max_probability * kOneQ16));
}

} // namespace marking

} // namespace netsim

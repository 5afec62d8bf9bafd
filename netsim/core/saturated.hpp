// A count as a signal holds it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace netsim {

inline std::uint32_t saturated(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, ~std::uint32_t{0}));
}

} // namespace netsim

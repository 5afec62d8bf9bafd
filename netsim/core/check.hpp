// What is checked at every event of a checked build (cmake -DNETSIM_CHECKED=ON), and costs nothing in others.
#pragma once

#include <stdexcept>

namespace netsim {

#ifdef NETSIM_CHECKED
inline constexpr bool kChecked = true;
#else
inline constexpr bool kChecked = false;
#endif

inline void check(bool holds, const char *what) {
  if constexpr (kChecked) {
    if (!holds)
      throw std::logic_error(what);
  }
}

} // namespace netsim

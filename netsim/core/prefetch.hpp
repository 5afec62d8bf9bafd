// What is needed soon is fetched into the cache beforehand: with thousands of flows their state does not fit into it.
#pragma once

#include <cstddef>

namespace netsim {

inline constexpr std::size_t kCacheLine = 64;

template <class T> void prefetch(const T &object) {
  for (std::size_t byte = 0; byte < sizeof(T); byte += kCacheLine)
    __builtin_prefetch(reinterpret_cast<const char *>(&object) + byte);
}

} // namespace netsim

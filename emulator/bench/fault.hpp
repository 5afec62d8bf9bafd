// How a call left its bounds: thrown by the engine, told as "KIND pc address cause" to whoever has the symbols.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

struct Fault : std::exception {
  const char *kind;
  uint32_t pc, address, cause;
  Fault(const char *k, uint32_t p, uint32_t a, uint32_t c = 0) : kind(k), pc(p), address(a), cause(c) {}

  std::string line() const {
    return std::string(kind) + ' ' + std::to_string(pc) + ' ' + std::to_string(address) + ' ' + std::to_string(cause);
  }
};

// One memory port as the core sees it: a flat array behind a single-ported bus with wait states.
//
// A request is granted in the cycle it is raised unless the port is busy; its answer comes 1 + wait cycles later; the
// next request is granted no earlier than the cycle of that answer. With wait = 0 this is a synchronous SRAM that
// serves one access every cycle; with wait = w it serves one every 1 + w.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

class Memory {
public:
  Memory(uint32_t base, uint32_t size) : base_(base), bytes_(size, 0) {}

  bool holds(uint32_t address, uint32_t size) const {
    return address >= base_ && uint64_t(address) - base_ + size <= bytes_.size();
  }
  uint8_t *at(uint32_t address) { return bytes_.data() + (address - base_); }
  uint32_t word(uint32_t address) const {
    uint32_t value;
    std::memcpy(&value, bytes_.data() + (address - base_), sizeof value);
    return value;
  }
  void write(uint32_t address, uint32_t value, uint32_t byte_enable) {
    for (uint32_t i = 0; i < 4; ++i)
      if (byte_enable >> i & 1)
        bytes_[address - base_ + i] = uint8_t(value >> (8 * i));
  }

private:
  uint32_t base_;
  std::vector<uint8_t> bytes_;
};

// The handshake of a port. answers() holds for the whole cycle; it ends with start() or idle().
class Port {
public:
  explicit Port(uint32_t wait) : wait_(wait) {}

  bool answers() const { return pending_ && remaining_ == 0; }
  uint32_t data() const { return data_; }
  bool error() const { return error_; }
  bool ready() const { return !pending_ || remaining_ == 0; }

  // The cycle ends: a granted request starts its wait; otherwise time passes.
  void start(uint32_t data, bool error) {
    pending_ = true;
    remaining_ = wait_;
    data_ = data;
    error_ = error;
  }
  void idle() {
    if (!pending_)
      return;
    if (remaining_ == 0)
      pending_ = false;
    else
      --remaining_;
  }

private:
  uint32_t wait_;
  uint32_t remaining_ = 0;
  uint32_t data_ = 0;
  bool pending_ = false;
  bool error_ = false;
};

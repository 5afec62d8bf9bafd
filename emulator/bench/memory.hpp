// The bytes of one memory. Its timing is in RTL (emulator/rtl/rlcc_memory_port.sv).
#pragma once

#include <algorithm>
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
  template <typename Word> Word word(uint32_t address) const {
    Word value;
    std::memcpy(&value, bytes_.data() + (address - base_), sizeof value);
    return value;
  }
  template <typename Word> void write(uint32_t address, Word value, uint32_t byte_enable) {
    for (uint32_t i = 0; i < sizeof value; ++i)
      if (byte_enable >> i & 1)
        bytes_[address - base_ + i] = uint8_t(value >> (8 * i));
  }
  void clear() { std::fill(bytes_.begin(), bytes_.end(), uint8_t{0}); }

private:
  uint32_t base_;
  std::vector<uint8_t> bytes_;
};

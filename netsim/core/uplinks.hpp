// Bursts on the hosts' uplinks, in the order in which their next packets reach the switches.
//
// An uplink's delay is the same for all, so what is put on a line is mostly in order already: one line for bursts as
// they leave the NICs, one for the next data packets of bursts, one for the probes behind them. What is not, a short
// packet's burst, goes to a heap.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "packet.hpp"
#include "ring.hpp"
#include "time.hpp"

namespace netsim {

class Uplinks {
public:
  enum Line : std::size_t { bursts, packets, probes };

  explicit Uplinks(std::uint32_t stream) : stream_(stream) { keys_.fill(kNever); }

  std::uint64_t first() const { return first_; } // the key of the next packet
  void push(Line line, const Burst &burst) {
    Ring<Burst> &ring = lines_[line];
    const std::uint64_t key = key_of(burst);
    if (ring.empty()) {
      keys_[line] = key;
    } else if (key < key_of(ring.back())) {
      odd_.push(Odd{key, burst});
      keys_[kOdd] = odd_.top().key;
      first_ = std::min(first_, key);
      return;
    }
    ring.push(burst);
    first_ = std::min(first_, key);
  }
  // The burst whose packet is next, off its line.
  Burst take() {
    std::size_t line = 0;
    while (keys_[line] != first_)
      ++line;
    Burst burst;
    if (line == kOdd) {
      burst = odd_.top().burst;
      odd_.pop();
      keys_[line] = odd_.empty() ? kNever : odd_.top().key;
    } else {
      Ring<Burst> &ring = lines_[line];
      burst = ring.front();
      ring.pop();
      keys_[line] = ring.empty() ? kNever : key_of(ring.front());
    }
    first_ = std::min(std::min(keys_[0], keys_[1]), std::min(keys_[2], keys_[3]));
    return burst;
  }

  // Data packets on all of them, by walking the lines.
  std::uint64_t data_packets() const {
    std::uint64_t packets = 0;
    for (const Ring<Burst> &ring : lines_) {
      for (std::size_t i = 0; i < ring.size(); ++i)
        packets += ring[i].packets;
    }
    for (auto odd = odd_; !odd.empty(); odd.pop())
      packets += odd.top().burst.packets;
    return packets;
  }

private:
  static constexpr std::size_t kOdd = 3;
  struct Odd {
    std::uint64_t key;
    Burst burst;
    bool operator>(const Odd &other) const { return key > other.key; }
  };
  std::uint64_t key_of(const Burst &burst) const { return event_key(burst.arrival, stream_ + burst.host); }

  std::uint32_t stream_; // of the first host
  std::uint64_t first_ = kNever;
  std::array<std::uint64_t, 4> keys_; // of the first of each line, then of the heap
  std::array<Ring<Burst>, 3> lines_{Ring<Burst>{64}, Ring<Burst>{64}, Ring<Burst>{64}};
  std::priority_queue<Odd, std::vector<Odd>, std::greater<Odd>> odd_;
};

} // namespace netsim

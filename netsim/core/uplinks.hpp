// Bursts on the hosts' uplinks, in the order in which their next packets reach the switches.
//
// An uplink's delay is the same for all, so what is put on a line is mostly in order already: one line for bursts that
// left the NICs within some time, sorted, one for the next data packets of bursts, one for the probes behind them. What
// is not, a short packet's burst, goes to a heap.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
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
  // What is left of a burst when so many of its packets are gone; the next one is there at `arrival`.
  void push(Line line, const Burst &burst, std::uint32_t gone, Ps arrival) {
    const std::uint64_t key = event_key(arrival, stream_ + burst.host);
    first_ = std::min(first_, key);
    if (lines_[line].empty()) {
      keys_[line] = key;
    } else if (key < last_[line]) {
      Odd odd{key, {}};
      rest(odd.burst, burst, gone, arrival);
      odd_.push(odd);
      keys_[kOdd] = odd_.top().key;
      return;
    }
    last_[line] = key;
    rest(lines_[line].add(), burst, gone, arrival);
  }
  // A burst leaves its NIC, to be filled in. NICs do so in any order; the lines know of it after `enter()`.
  Burst &leave() { return left_.emplace_back(); }
  void enter() {
    if (left_.empty())
      return;
    sort();
    for (const Place &place : places_)
      push(bursts, left_[place.index], 0, left_[place.index].arrival);
    left_.clear();
  }
  // The burst whose packet is next, off its line.
  Burst take() {
    const std::size_t early = keys_[1] < keys_[0] ? 1 : 0, late = keys_[kOdd] < keys_[2] ? kOdd : 2;
    const std::size_t line = keys_[late] < keys_[early] ? late : early;
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

  // A burst that is taken soon.
  const Burst &ahead() const { return lines_[bursts].ahead(4); }

  // Data packets on all of them, by walking the lines.
  std::uint64_t data_packets() const {
    std::uint64_t packets = 0;
    for (const Ring<Burst> &ring : lines_) {
      for (std::size_t i = 0; i < ring.size(); ++i)
        packets += ring[i].packets;
    }
    for (auto odd = odd_; !odd.empty(); odd.pop())
      packets += odd.top().burst.packets;
    for (const Burst &burst : left_)
      packets += burst.packets;
    return packets;
  }

private:
  static constexpr std::size_t kOdd = 3;
  struct Odd {
    std::uint64_t key;
    Burst burst;
    bool operator>(const Odd &other) const { return key > other.key; }
  };
  struct Place {
    std::uint64_t key;
    std::size_t index; // in `left_`
  };

  // Field by field: what was written just before would be waited for by a copy.
  static void rest(Burst &to, const Burst &burst, std::uint32_t gone, Ps arrival) {
    to.arrival = arrival;
    to.host = burst.host;
    to.flow = burst.flow;
    to.psn = burst.psn + gone;
    to.probe_serial = burst.probe_serial;
    to.packets = static_cast<std::uint16_t>(burst.packets - gone);
    to.last_bytes = burst.last_bytes;
    to.ack_last = burst.ack_last;
    to.ack_each = burst.ack_each;
    to.klass = burst.klass;
  }

  // Bursts that left, by their keys: into as many buckets of time as there are of them, then within each.
  void sort() {
    const auto [first, last] = std::minmax_element(
        left_.begin(), left_.end(), [](const Burst &a, const Burst &b) { return a.arrival < b.arrival; });
    const Ps begin = first->arrival;
    const auto length = static_cast<std::uint64_t>(last->arrival - begin);
    const std::size_t buckets = std::bit_ceil(left_.size());
    const int shift = std::max(0, static_cast<int>(std::bit_width(length)) - std::countr_zero(buckets));
    const auto bucket = [&](const Burst &burst) { return static_cast<std::size_t>(burst.arrival - begin) >> shift; };
    ends_.assign(buckets + 1, 0);
    for (const Burst &burst : left_)
      ++ends_[bucket(burst) + 1];
    for (std::size_t b = 1; b <= buckets; ++b)
      ends_[b] += ends_[b - 1];
    places_.resize(left_.size());
    for (std::size_t i = 0; i < left_.size(); ++i)
      places_[ends_[bucket(left_[i])]++] = Place{key_of(left_[i]), i};
    std::size_t start = 0;
    for (std::size_t b = 0; b < buckets; start = ends_[b++]) {
      if (ends_[b] - start > 1)
        std::sort(places_.begin() + start, places_.begin() + ends_[b],
                  [](const Place &a, const Place &b) { return a.key < b.key; });
    }
  }

  std::uint64_t key_of(const Burst &burst) const { return event_key(burst.arrival, stream_ + burst.host); }

  std::uint32_t stream_; // of the first host
  std::uint64_t first_ = kNever;
  std::array<std::uint64_t, 4> keys_;   // of the first of each line, then of the heap
  std::array<std::uint64_t, 3> last_{}; // .. of the last of each line that is not empty
  std::array<Ring<Burst>, 3> lines_{Ring<Burst>{64}, Ring<Burst>{64}, Ring<Burst>{64}};
  std::priority_queue<Odd, std::vector<Odd>, std::greater<Odd>> odd_;
  std::vector<Burst> left_;         // and are on no line yet
  std::vector<Place> places_;       // of these, in order
  std::vector<std::uint32_t> ends_; // of the buckets
};

} // namespace netsim

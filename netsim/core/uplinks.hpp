// Bursts on the hosts' uplinks, in the order in which their next packets reach the switches.
//
// An uplink's delay is the same for all, so what is put on a line is mostly in order already: a line for bursts that
// left the NICs within some time, sorted; one each for what is left of them after a packet, after two, and after more;
// and one for the probes behind them. A burst out of order, as after a short packet, goes to a heap.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "packet.hpp"
#include "ring.hpp"
#include "time.hpp"
#include "time_order.hpp"

namespace netsim {

class Uplinks {
public:
  // `stream`: of the first host. `data_ps`, `probe_ps`: times of a full data packet and of a probe on an uplink.
  Uplinks(std::uint32_t stream, Ps ps_per_byte, Ps data_ps, Ps probe_ps)
      : stream_(stream), ps_per_byte_(ps_per_byte), data_ps_(data_ps), probe_ps_(probe_ps) {
    keys_.fill(kNever);
  }

  std::uint64_t first() const { return first_; } // the key of the next packet
  // A burst leaves its NIC, to be filled in. NICs do so in any order; the lines know of it after `enter()`.
  Burst &leave() { return left_.emplace_back(); }
  void enter() {
    if (left_.empty())
      return;
    for (const TimeOrder::Place &place : order_(left_.size(), [this](std::size_t i) { return key_of(left_[i]); }))
      put(0, left_[place.index], place.key);
    left_.clear();
    choose();
  }

  // The burst whose packet is next, until that packet is gone.
  const Burst &front() const { return line_ == kOdd ? odd_.top().burst : lines_[line_].front(); }
  void pop() {
    if (line_ == kOdd)
      pop_odd();
    else
      pop_of(line_);
    choose();
  }
  // Data packets of at least `bytes` that come before `end` are gone, in any order, but for those behind a shorter one
  // on its line: `lost(flow)` of each. Returns the time of the last one, 0 where there was none.
  template <class Lost> Ps lose(std::uint64_t end, std::uint32_t bytes, Lost lost) {
    std::uint64_t last = 0;
    for (std::size_t line = 0; line < kProbes; ++line) {
      while (keys_[line] < end) {
        const Burst &burst = lines_[line].front();
        if (burst.packets == 0 || (burst.packets == 1 && burst.last_bytes < bytes))
          break;
        last = std::max(last, keys_[line]);
        lost(burst.flow);
        pop_of(line);
      }
    }
    choose();
    return key_time(last);
  }

  // A burst that is taken soon.
  const Burst &ahead() const { return lines_[0].ahead(4); }

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
  // Lines of data packets come before that of the probes, and the heap behind it.
  static constexpr std::size_t kProbes = 4, kOdd = 5;
  struct Odd {
    std::uint64_t key;
    Burst burst;
    bool operator>(const Odd &other) const { return key > other.key; }
  };
  // The first packet of a line is gone: the next one of its burst stands on another line.
  void pop_of(std::size_t line) {
    Ring<Burst> &ring = lines_[line];
    const std::size_t then = line_of_rest(ring.front(), line);
    if (then == kOdd) { // nothing is left
      ring.pop();
    } else {
      const Ps arrival = next_arrival(ring.front());
      const std::uint64_t key = event_key(arrival, stream_ + ring.front().host);
      if (follows(then, key)) {
        Burst &last = lines_[then].add(); // where they are one, what is first may have moved
        rest(last, ring.front(), arrival);
        last_[then] = key;
      } else {
        Odd odd{key, {}};
        rest(odd.burst, ring.front(), arrival);
        put_odd(odd);
      }
      ring.pop();
    }
    keys_[line] = ring.empty() ? kNever : key_of(ring.front());
  }
  void pop_odd() {
    const Burst burst = odd_.top().burst;
    odd_.pop();
    keys_[kOdd] = odd_.empty() ? kNever : odd_.top().key;
    if (const std::size_t then = line_of_rest(burst, 0); then != kOdd) {
      Burst left;
      const Ps arrival = next_arrival(burst);
      rest(left, burst, arrival);
      put(then, left, key_of(left));
    }
  }
  static std::size_t line_of_rest(const Burst &burst, std::size_t line) {
    if (burst.packets > 1)
      return std::min(line + 1, kProbes - 1);
    return burst.packets == 1 && burst.probe_serial != 0 ? kProbes : kOdd;
  }
  Ps next_arrival(const Burst &burst) const {
    if (burst.packets == 1)
      return burst.arrival + probe_ps_;
    return burst.arrival + (burst.packets > 2 ? data_ps_ : burst.last_bytes * ps_per_byte_);
  }
  // Without its first packet. Field by field: what was written just before would be waited for by a copy.
  static void rest(Burst &to, const Burst &burst, Ps arrival) {
    to.arrival = arrival;
    to.host = burst.host;
    to.flow = burst.flow;
    to.psn = burst.psn + 1;
    to.probe_serial = burst.probe_serial;
    to.packets = static_cast<std::uint16_t>(burst.packets - 1);
    to.last_bytes = burst.last_bytes;
    to.ack_last = burst.ack_last;
    to.ack_each = burst.ack_each;
    to.klass = burst.klass;
  }
  // Whether it may stand behind all that are on a line. It is its first where it is alone.
  bool follows(std::size_t line, std::uint64_t key) {
    if (!lines_[line].empty())
      return key >= last_[line];
    keys_[line] = key;
    return true;
  }
  void put(std::size_t line, const Burst &burst, std::uint64_t key) {
    if (follows(line, key)) {
      lines_[line].push(burst);
      last_[line] = key;
    } else {
      put_odd(Odd{key, burst});
    }
  }
  void put_odd(const Odd &odd) {
    odd_.push(odd);
    keys_[kOdd] = odd_.top().key;
  }
  void choose() { // no branch to foresee
    const auto first_of = [&](std::size_t a, std::size_t b) { return keys_[b] < keys_[a] ? b : a; };
    line_ = first_of(first_of(first_of(0, 1), first_of(2, 3)), first_of(kProbes, kOdd));
    first_ = keys_[line_];
  }

  std::uint64_t key_of(const Burst &burst) const { return event_key(burst.arrival, stream_ + burst.host); }

  std::uint32_t stream_;
  Ps ps_per_byte_, data_ps_, probe_ps_;
  std::uint64_t first_ = kNever;
  std::size_t line_ = 0;                          // of the next packet
  std::array<std::uint64_t, kOdd + 1> keys_;      // of the first of each line, then of the heap
  std::array<std::uint64_t, kProbes + 1> last_{}; // .. of the last of each line that is not empty
  std::array<Ring<Burst>, kProbes + 1> lines_{Ring<Burst>{64}, Ring<Burst>{64}, Ring<Burst>{64}, Ring<Burst>{64},
                                              Ring<Burst>{64}};
  std::priority_queue<Odd, std::vector<Odd>, std::greater<Odd>> odd_;
  std::vector<Burst> left_; // and are on no line yet
  TimeOrder order_;         // of these
};

} // namespace netsim

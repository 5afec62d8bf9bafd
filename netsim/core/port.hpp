// A switch's egress port. Its queue is measured as the work left, in ps of its line time (exactly ps_per_byte a byte).
//
// As long as a port is one FIFO that nothing stops, a packet's departure is known when it comes: it goes straight to
// the link with the time at which it will arrive, and no event ends a transmission. A port with several classes, or one
// that can be paused, keeps its packets in queues and picks the next one when the last has left.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "config.hpp"
#include "packet.hpp"
#include "random.hpp"
#include "ring.hpp"

namespace netsim {

// RED in ps of a port's line time.
struct Red {
  Ps min = 0;
  Ps max = 0;
  double slope = 0;

  Red() = default;
  Red(const RedConfig &red, Ps ps_per_byte)
      : min(red.min_bytes * ps_per_byte), max(red.max_bytes * ps_per_byte),
        slope(max > min ? red.max_probability / static_cast<double>(max - min) : 0.0) {}

  RedConfig config(Ps ps_per_byte) const {
    return {min / ps_per_byte, max / ps_per_byte, slope * static_cast<double>(max - min)};
  }

  bool marks(Ps queue, Pcg32 &random) const {
    if (queue <= min)
      return false;
    if (queue > max)
      return true;
    return random.unit() < slope * static_cast<double>(queue - min);
  }
};

// Headers that go before a packet that waits. Without a limit senders that repeat at once fill the link with headers:
// switches take turns of 10 to 1 for that reason in [NDP].
inline constexpr std::uint32_t kMostHeadersInARow = 10;

// A packet that waits in a queue, and the link it came over.
struct Held {
  Packet packet;
  std::uint32_t link;
};

// Bytes on the wire that have wholly left a queue, since the start.
struct SentBytes {
  std::uint64_t all = 0;
  std::uint64_t marked = 0; // in packets that this queue marked
};

struct ClassQueue {
  Ring<Held> packets{16};
  Ps waiting = 0;
  std::int64_t deficit = 0; // bytes
  Red red;
  SentBytes begun; // transmissions under way too
};

struct Port {
  Port(const NetworkConfig &net, const PortConfig &port, std::int64_t unit, std::uint64_t seed, std::uint64_t index)
      : ps_per_byte(port.ps_per_byte), delay(port.delay), scale(unit / port.ps_per_byte), node(port.node),
        red(net.red, port.ps_per_byte), random(seed, 2 + 2 * index) {}

  Ps ps_per_byte;
  Ps delay;
  std::int64_t scale; // buffer units (Fabric) a ps of line time
  std::uint32_t node;
  Red red;
  Pcg32 random;

  Ps free_at = 0; // FIFO: when all it holds has left; else: when the transmission under way ends
  Ps waiting = 0; // FIFO: 0; else: in the queues
  Ps longest = 0; // longest queue since the window began, ps of line time, the new packet included
  Ring<Packet> link{64};
  std::size_t came = 0; // FIFO: how many in `link` had come when the last one examined began to leave

  // Totals.
  std::uint64_t received_bytes = 0; // that have wholly reached the other end
  std::uint64_t marked_bytes = 0;   // .. in packets that this port marked (FIFO)
  std::uint64_t begun_bytes = 0;    // whose transmission has begun (not kept by a FIFO: there it is received_bytes)
  std::uint64_t marked = 0;
  std::uint64_t dropped = 0; // data packets
  SentBytes lost;            // that had left when the link failed (FIFO)

  // Ports that pick: a queue a class, and where packets are trimmed one behind them for headers, which go first, ten to
  // a packet.
  std::vector<ClassQueue> queues;
  std::uint8_t paused = 0; // a bit a class
  bool up = true;          // its link
  bool busy = false;
  std::uint32_t turn = 0;
  std::uint32_t headers_in_a_row = 0; // sent
  std::uint32_t sending_bytes = 0;
  std::uint32_t sending_from = 0; // the link that the packet under way came over
  std::uint8_t sending_class = 0;

  Ps backlog(Ps now) const { return waiting + std::max<Ps>(free_at - now, 0); }
  Ps backlog_of(std::uint32_t klass, Ps now) const {
    if (queues.empty())
      return backlog(now);
    return queues[klass].waiting + (klass == sending_class ? std::max<Ps>(free_at - now, 0) : 0);
  }

  Red &red_of(std::uint32_t klass) { return queues.empty() ? red : queues[klass].red; }
  const Red &red_of(std::uint32_t klass) const { return queues.empty() ? red : queues[klass].red; }

  // What has left a class's queue: begun transmissions but for the one under way; of a FIFO what has reached the other
  // end and what is on the link.
  SentBytes sent(std::uint32_t klass, Ps now) const {
    if (!queues.empty()) {
      SentBytes sent = queues[klass].begun;
      if (busy && klass == sending_class && free_at > now) {
        sent.all -= sending_bytes;
        sent.marked -= link[link.size() - 1].marked_here ? sending_bytes : 0;
      }
      return sent;
    }
    SentBytes sent{received_bytes + lost.all, marked_bytes + lost.marked};
    for (std::size_t i = 0; i < link.size() && link[i].due - delay <= now; ++i) {
      sent.all += link[i].wire_bytes;
      sent.marked += link[i].marked_here ? link[i].wire_bytes : 0;
    }
    return sent;
  }

  // FIFO: the queue behind the first packet of `link` when that packet began to leave.
  Ps behind_first() {
    const auto finish = [&](std::size_t i) { return link[i].due - delay; };
    const Ps begin = finish(0) - link[0].wire_bytes * ps_per_byte;
    const auto arrival = [&](std::size_t i) { return finish(i) - link[i].wire_bytes * ps_per_byte - link[i].wait; };
    came = std::max<std::size_t>(came, 1); // itself
    while (came < link.size() && arrival(came) < begin)
      ++came;
    return finish(came - 1) - finish(0);
  }

  // The queue whose first packet is sent next; -1: none may be.
  int pick(const std::vector<ClassConfig> &classes, std::uint32_t quantum) {
    const bool headers = queues.size() > classes.size() && !queues.back().packets.empty();
    if (headers && headers_in_a_row < kMostHeadersInARow) {
      ++headers_in_a_row;
      return static_cast<int>(classes.size());
    }
    headers_in_a_row = 0;
    const int klass = pick_class(classes, quantum);
    return headers && klass < 0 ? static_cast<int>(classes.size()) : klass;
  }

private:
  int pick_class(const std::vector<ClassConfig> &classes, std::uint32_t quantum) {
    const auto ready = [&](std::uint32_t c) { return (paused >> c & 1) == 0 && !queues[c].packets.empty(); };
    const auto n = static_cast<std::uint32_t>(classes.size());
    bool weighted = false;
    for (std::uint32_t c = 0; c < n; ++c) {
      if (!ready(c))
        continue;
      if (classes[c].weight == 0)
        return static_cast<int>(c);
      weighted = true;
    }
    // Deficit round robin ([DRR]): a queue spends its quantum before the turn passes on.
    while (weighted) {
      ClassQueue &queue = queues[turn];
      if (classes[turn].weight != 0 && ready(turn)) {
        if (queue.deficit >= queue.packets.front().packet.wire_bytes) {
          queue.deficit -= queue.packets.front().packet.wire_bytes;
          return static_cast<int>(turn);
        }
      } else if (queue.packets.empty()) {
        queue.deficit = 0;
      }
      turn = (turn + 1) % n;
      if (classes[turn].weight != 0 && ready(turn))
        queues[turn].deficit += static_cast<std::int64_t>(classes[turn].weight) * quantum;
    }
    return -1;
  }
};

} // namespace netsim

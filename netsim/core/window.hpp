// What is counted between two resets of the measurement window.
#pragma once

#include <cstdint>
#include <vector>

#include "histogram.hpp"
#include "time.hpp"

namespace netsim {

// Totals since the start; a window's value is a difference of two of them.
struct Counters {
  std::uint64_t data_sent = 0;     // packets that left a NIC, retransmissions included
  std::uint64_t data_arrived = 0;  // packets that reached a receiver, in order or not
  std::uint64_t data_in_order = 0; // packets delivered to the application
  std::uint64_t data_dropped = 0;  // headers of trimmed ones too
  std::uint64_t trimmed = 0;       // to their headers, by switches
  std::uint64_t headers = 0;       // that reached a receiver
  std::uint64_t probes_sent = 0;
  std::uint64_t probes_arrived = 0;
  std::uint64_t probes_dropped = 0;
  std::uint64_t marked = 0;
  std::uint64_t acks = 0;
  std::uint64_t nacks = 0;
  std::uint64_t cnps = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t wait_ps = 0;    // data packets' waits at the switches
  std::uint64_t latency_ps = 0; // .. and their whole latencies
  std::uint64_t rtts = 0;       // RTTs measured: a probe's, a baseline's ACK's
  std::uint64_t rtt_ns = 0;     // all of them together
  std::uint64_t pauses = 0;     // priority flow control frames that stop a link
  std::uint64_t paused_ps = 0;  // links' time under them
};

// Packets of the flows of one cohort, where several share a network.
struct Share {
  std::uint64_t sent = 0;
  std::uint64_t arrived = 0;
  std::uint64_t dropped = 0;
  std::uint64_t latency_ps = 0;
  Histogram latency;

  void arrive(Ps took) {
    ++arrived;
    latency_ps += static_cast<std::uint64_t>(took);
    latency.add(took);
  }
};

// Finite flows that were done, in the order of their ends.
struct Completions {
  std::vector<std::uint32_t> flow;
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> finish;
  std::vector<std::int64_t> alone; // how long it takes in an empty network
};

// Rounds of jobs that were done, in the order of their ends.
struct Rounds {
  std::vector<std::uint32_t> job;
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> finish;
};

struct Window {
  Ps begin = 0;
  Counters at_begin;
  Histogram latency;
  std::vector<std::uint32_t> expected_psn;   // of each receiver
  std::vector<std::uint64_t> sent;           // of each sender, packets
  std::vector<std::uint64_t> received_bytes; // of each port
  std::vector<std::uint64_t> marked;
  std::vector<std::uint64_t> dropped;
  Completions completions;
  Rounds rounds;
  std::vector<double> recovery_us;
};

} // namespace netsim

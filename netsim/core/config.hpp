// What one run is made of, in the units the simulator works with. Defaults and their sources: netsim/network.py.
#pragma once

#include <cstdint>
#include <vector>

#include "time.hpp"

namespace netsim {

struct NetworkConfig {
  Ps ps_per_byte = 80;
  std::uint32_t payload_bytes = 1024;
  std::uint32_t data_wire_bytes = 1106;
  std::uint32_t probe_wire_bytes = 84;
  Ps uplink_delay = 0;   // host to switch, forwarding included
  Ps downlink_delay = 0; // port to receiver
  Ps control_delay = 0;  // receiver to sender: ACK, NACK, CNP, RTT response
  std::int64_t buffer_bytes = 0;
  std::int64_t ecn_min_bytes = 0;
  std::int64_t ecn_max_bytes = 0;
  double ecn_max_probability = 0;
  Ps cnp_interval = 0;
  std::uint32_t burst_packets = 4;
  std::uint32_t message_packets = 16;
  std::uint32_t inflight_packets = 640;
  Ps probe_gap = 0;
  Ps probe_timeout = 0;
  Ps retransmit_timeout = 0;
  Ps start_jitter = 0;
  Ps decision_latency = 0;
};

// One flow of the scenario. packets == 0: unlimited. period > 0: the flow comes back every period.
struct FlowConfig {
  std::uint32_t host = 0;
  std::uint32_t port = 0;
  std::uint32_t packets = 0;
  Ps start = 0;
  Ps period = 0;
};

struct ScenarioConfig {
  std::uint32_t hosts = 0;
  std::uint32_t ports = 0;
  std::int32_t long_flow = -1; // the flow whose recovery is measured, -1: none
  double recovered_rate = 0.9;
  std::vector<FlowConfig> flows; // grouped by host
};

} // namespace netsim

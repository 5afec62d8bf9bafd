// The state that the parts of the simulator share: flows and their two ends, NICs, uplinks, switches, the ways back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "config.hpp"
#include "demotion.hpp"
#include "fabric.hpp"
#include "finished.hpp"
#include "flow.hpp"
#include "loop.hpp"
#include "nic.hpp"
#include "packet.hpp"
#include "random.hpp"
#include "reorder.hpp"
#include "ring.hpp"
#include "scoreboard.hpp"
#include "turns.hpp"
#include "uplinks.hpp"
#include "window.hpp"

namespace netsim {

struct Network {
  Network(const NetworkConfig &net, const FabricConfig &fabric_config, const ScenarioConfig &scenario_config,
          std::size_t cohorts, std::uint64_t seed);

  const Port &port_of(const Route &route, std::uint32_t hop) const {
    return fabric.ports()[scenario.routes[route.first + hop]];
  }
  Ps way_back(std::uint32_t flow) const { return scenario.control_delays[routes[flow].control]; }
  bool stamps(std::uint32_t flow) const { // its data packets bring telemetry back
    return net.ends[shares.empty() ? 0 : receivers[flow].cohort].telemetry;
  }
  std::uint32_t last_is_short(std::uint32_t flow) const { // bytes of payload that its last packet lacks
    return net.data_wire_bytes - scenario.flows[flow].last_wire_bytes;
  }
  std::uint64_t size_bytes(std::uint32_t flow) const { // payload of a flow that ends
    return std::uint64_t{scenario.flows[flow].packets} * net.payload_bytes - last_is_short(flow);
  }
  std::uint64_t in_flight_bytes(std::uint32_t flow) const; // payload that has left, neither acknowledged nor lost
  // The entropy value that a packet was given when it left: the sender draws one for each. 0 where there are none.
  std::uint32_t entropy(std::uint32_t flow, Ps sent_at) const {
    if (entropies == 0)
      return 0;
    return static_cast<std::uint32_t>(hashed(std::uint64_t{flow} << 44 ^ static_cast<std::uint64_t>(sent_at)) %
                                      entropies);
  }
  // Senders and switches hash with this; the seed is their salt.
  std::uint64_t hashed(std::uint64_t key) const { return mixed(key ^ salt_); }
  // Whatever happens at the switches reaches a sender no earlier than this.
  Ps shortest_way_back() const;

  // A message costs the NIC time before its first packet: when a flow that is to send at `at` may do so, ..
  Ps not_before(std::uint32_t flow, Ps at) const { return begins_message(flow) ? std::max(at, message_at[flow]) : at; }
  // .. and one that is new, or was blocked, from `now` on.
  Ps ready_at(std::uint32_t flow, Ps now) {
    if (begins_message(flow))
      message_at[flow] = std::max(message_at[flow], now + net.message_cost);
    return not_before(flow, now);
  }

  NetworkConfig net;
  ScenarioConfig scenario;
  Ps uplink_delay;
  std::uint32_t entropies; // RoutingConfig
  Ps data_ps, probe_ps;    // a full data packet and a probe on a NIC's line
  Loop loop;

  std::vector<Sender> senders;
  std::vector<Receiver> receivers;
  std::vector<Route> routes;
  std::vector<Ps> probe_began; // of each flow, the burst before its last probe
  std::vector<Nic> nics;
  Turns turns;
  Uplinks uplinks;
  Fabric fabric;
  std::vector<Ring<Control>> control; // of each way back
  Demotion demotion;
  Finished finished;
  Reorder reorder;
  Scoreboard scoreboard;
  std::vector<Ps> message_at; // of each flow, where messages cost time: its next one begins no earlier

  Counters counters;
  std::vector<Share> shares; // of each cohort at the flows, where there are several; of the window
  Window window;

private:
  std::uint64_t salt_;

  bool begins_message(std::uint32_t flow) const { return !message_at.empty() && senders[flow].of_message(net) == 0; }
  void share_routes();
};

// The time of a full data packet that waits nowhere, to its receiver.
Ps base_latency(const NetworkConfig &net, const FabricConfig &fabric, const ScenarioConfig &scenario,
                std::uint32_t flow);

} // namespace netsim

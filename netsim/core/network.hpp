// The state that the parts of the simulator share: flows and their two ends, NICs, uplinks, switches, the ways back.
#pragma once

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
#include "reorder.hpp"
#include "ring.hpp"
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
  std::uint64_t size_bytes(std::uint32_t flow) const { // payload of a flow that ends
    const FlowConfig &f = scenario.flows[flow];
    return std::uint64_t{f.packets} * net.payload_bytes - (net.data_wire_bytes - f.last_wire_bytes);
  }

  NetworkConfig net;
  ScenarioConfig scenario;
  Ps uplink_delay;
  Ps data_ps, probe_ps; // a full data packet and a probe on a NIC's line
  Loop loop;

  std::vector<Sender> senders;
  std::vector<Receiver> receivers;
  std::vector<Route> routes;
  std::vector<Nic> nics;
  Turns turns;
  Uplinks uplinks;
  Fabric fabric;
  std::vector<Ring<Control>> control; // of each way back
  Demotion demotion;
  Finished finished;
  Reorder reorder;

  Counters counters;
  std::vector<Share> shares; // of each cohort at the flows, where there are several; of the window
  Window window;

private:
  void share_routes();
  Ps base_latency(std::uint32_t flow) const; // of a full data packet that waits nowhere
};

} // namespace netsim

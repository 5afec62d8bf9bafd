#include "network.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace netsim {

Network::Network(const NetworkConfig &net_config, const FabricConfig &fabric_config,
                 const ScenarioConfig &scenario_config, std::size_t cohorts, std::uint64_t seed)
    : net(net_config), scenario(scenario_config), uplink_delay(fabric_config.uplink_delay),
      entropies(fabric_config.routing.entropies), data_ps(net.data_wire_bytes * net.ps_per_byte),
      probe_ps(net.probe_wire_bytes * net.ps_per_byte),
      loop(Streams(cohorts, scenario.control_delays.size(), fabric_config.ports.size())),
      senders(scenario.flows.size()), receivers(scenario.flows.size()), routes(scenario.flows.size()),
      probe_began(scenario.flows.size(), 0), turns(scenario.hosts, scenario.planes == 1),
      uplinks(loop.streams.uplinks, net.ps_per_byte, data_ps, probe_ps),
      fabric(net, fabric_config, scenario.hosts, seed), control(scenario.control_delays.size(), Ring<Control>{256}),
      demotion(net, scenario), reorder(scenario.flows.size(), net.any_selective() ? kMostHeld : net.reorder_packets),
      scoreboard(net.any_selective() ? scenario.flows.size() : 0, net.reorder_packets, net.trim_bytes > 0),
      message_at(net.message_cost > 0 ? scenario.flows.size() : 0), shares(net.ends.size() > 1 ? net.ends.size() : 0),
      salt_(mixed(seed)) {
  share_routes();
  std::vector<std::uint32_t> queue_pairs(scenario.hosts / scenario.planes, 0); // of each machine, at all of its NICs
  for (const FlowConfig &flow : scenario.flows)
    ++queue_pairs[flow.host / scenario.planes];
  nics.reserve(scenario.hosts);
  std::uint32_t first = 0;
  for (const std::uint32_t n : queue_pairs) {
    for (std::uint32_t plane = 0; plane < scenario.planes; ++plane) {
      nics.emplace_back(std::max<std::uint32_t>(n, 1), net.classes.size(), net.nic_priorities);
      nics.back().first_flow = first;
    }
    first += n;
  }
  for (std::uint32_t f = 0; f < senders.size(); ++f) {
    const FlowConfig &flow = scenario.flows[f];
    senders[f].host = flow.host;
    senders[f].klass = flow.klass;
    senders[f].cohort = receivers[f].cohort = flow.cohort;
    senders[f].qp = f - nics[flow.host].first_flow;
    routes[f] = Route{flow.route, static_cast<std::uint16_t>(flow.control), flow.hops};
    receivers[f].base_latency = base_latency(net, fabric_config, scenario, f);
    receivers[f].overtakes = !fabric_config.routing.ways.empty();
  }
}

// Flows whose paths are the same ports have them at one place, which the cache then holds.
void Network::share_routes() {
  std::map<std::vector<std::uint32_t>, std::uint32_t> known; // of all planes -> where they begin
  std::vector<std::uint32_t> all;
  for (FlowConfig &flow : scenario.flows) {
    const std::uint32_t own = flow.host % scenario.planes * flow.hops; // its own plane's
    const auto first = scenario.routes.begin() + flow.route - own;
    const auto [at, is_new] = known.try_emplace(std::vector(first, first + scenario.planes * flow.hops),
                                                static_cast<std::uint32_t>(all.size()));
    if (is_new)
      all.insert(all.end(), at->first.begin(), at->first.end());
    flow.route = at->second + own;
  }
  scenario.routes = std::move(all);
}

std::uint64_t Network::in_flight_bytes(std::uint32_t flow) const {
  const Sender &s = senders[flow];
  const std::uint64_t bytes = std::uint64_t{s.in_flight()} * net.payload_bytes;
  const std::uint32_t last = s.end_psn - 1;
  const bool left = s.end_psn != kUnlimited && s.next_psn == s.end_psn && s.next_psn != s.acked_psn;
  return left && (s.absent == 0 || scoreboard.under_way(flow, last)) ? bytes - last_is_short(flow) : bytes;
}

Ps Network::shortest_way_back() const {
  const Ps shortest = *std::min_element(scenario.control_delays.begin(), scenario.control_delays.end());
  return net.lossless ? std::min(shortest, uplink_delay) : shortest;
}

Ps base_latency(const NetworkConfig &net, const FabricConfig &fabric, const ScenarioConfig &scenario,
                std::uint32_t flow) {
  const FlowConfig &config = scenario.flows[flow];
  Ps latency = net.data_wire_bytes * net.ps_per_byte + fabric.uplink_delay;
  for (std::uint32_t h = 0; h < config.hops; ++h) {
    const PortConfig &port = fabric.ports[scenario.routes[config.route + h]];
    latency += net.data_wire_bytes * port.ps_per_byte + port.delay;
  }
  return latency;
}

} // namespace netsim

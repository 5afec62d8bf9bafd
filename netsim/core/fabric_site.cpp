#include "fabric_site.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "marking.hpp"
#include "saturated.hpp"

namespace netsim {

namespace {

constexpr std::array kBoth{FabricSite::up, FabricSite::down};

// A port: its switch, and the one behind its link; the receivers' come first, and no switch is behind theirs.
struct Hop {
  std::uint32_t from, to;
};

// `senders`: the switch of each machine that sends.
FabricSite::Ports layers(const std::vector<Hop> &hops, std::uint32_t receivers,
                         const std::vector<std::uint32_t> &senders, std::size_t switches) {
  constexpr std::uint32_t far = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> level(switches, far); // links to the nearest switch with machines
  for (std::uint32_t p = 0; p < receivers; ++p)
    level[hops[p].from] = 0;
  for (const std::uint32_t node : senders)
    level[node] = 0;
  for (bool nearer = true; nearer;) {
    nearer = false;
    for (std::size_t p = receivers; p < hops.size(); ++p) {
      const std::uint32_t behind = level[hops[p].to];
      if (behind != far && behind + 1 < level[hops[p].from]) {
        level[hops[p].from] = behind + 1;
        nearer = true;
      }
    }
  }
  FabricSite::Ports ports;
  for (std::uint32_t p = 0; p < hops.size(); ++p) {
    if (p >= receivers && level[hops[p].from] == level[hops[p].to])
      throw std::invalid_argument("two switches that are joined are as far from the machines as each other, so that "
                                  "the link between them leads neither up nor down");
    const bool leads_up = p >= receivers && level[hops[p].to] > level[hops[p].from];
    ports[leads_up ? FabricSite::up : FabricSite::down].push_back(p);
  }
  if (ports[FabricSite::up].empty())
    throw std::invalid_argument("no port leads up to another switch; an agent of the fabric needs leaves and spines, "
                                "as of leaf-spine:4x16x3");
  return ports;
}

FabricSite::Ports layers(const Network &n) {
  std::vector<Hop> hops;
  std::size_t switches = 0;
  for (const Port &port : n.fabric.ports()) {
    const std::uint32_t to = n.fabric.end_of(n.scenario.hosts + static_cast<std::uint32_t>(hops.size()));
    hops.push_back({port.node, to});
    switches = std::max({switches, port.node + std::size_t{1}, to + std::size_t{1}});
  }
  std::vector<std::uint32_t> senders;
  for (std::uint32_t host = 0; host < n.scenario.hosts; ++host) {
    senders.push_back(n.fabric.end_of(host));
    switches = std::max(switches, senders.back() + std::size_t{1});
  }
  return layers(hops, n.scenario.receivers, senders, switches);
}

} // namespace

FabricSite::FabricSite(const Surroundings &around)
    : n_(around.network), ports_(layers(around.network)), classes_(around.network.net.classes.size()) {}

SentBytes FabricSite::sent(Layer layer, std::uint32_t klass, Ps now) const {
  SentBytes all;
  for (const std::uint32_t p : ports_[layer]) {
    const SentBytes its = n_.fabric.ports()[p].sent(klass, now);
    all.all += its.all;
    all.marked += its.marked;
  }
  return all;
}

void FabricSite::observe(std::uint32_t klass, Ps now, Knobs event) {
  for (const Layer layer : kBoth) {
    std::uint64_t queued = 0, longest = 0;
    for (const std::uint32_t p : ports_[layer]) {
      const Port &port = n_.fabric.ports()[p];
      const auto queue = static_cast<std::uint64_t>(port.backlog_of(klass, now) / port.ps_per_byte);
      queued += queue;
      longest = std::max(longest, queue);
    }
    const SentBytes now_sent = sent(layer, klass, now);
    const SentBytes &counted = classes_[klass].counted[layer];
    const Knobs its = event.subspan(layer * kOfLayer, kOfLayer);
    its[queue_bytes] = saturated(queued);
    its[longest_bytes] = saturated(longest);
    its[sent_bytes] = saturated(now_sent.all - counted.all);
    its[marked_bytes] = saturated(now_sent.marked - counted.marked);
  }
}

void FabricSite::taken(std::uint32_t klass, Ps now, bool) {
  for (const Layer layer : kBoth)
    classes_[klass].counted[layer] = sent(layer, klass, now);
}

void FabricSite::merge(Words older, Knobs newer) const {
  for (const Layer layer : kBoth) {
    for (const OfLayer of : {sent_bytes, marked_bytes}) {
      const std::size_t counted = layer * kOfLayer + of;
      newer[counted] = saturated(std::uint64_t{newer[counted]} + older[counted]);
    }
  }
}

// As the first port of each layer has it: until the first decision others may have their own.
void FabricSite::in_force(std::uint32_t klass, Knobs knobs) const {
  for (const Layer layer : kBoth)
    marking::from_red(n_.fabric.red(ports_[layer].front(), klass), knobs.subspan(layer * marking::kKnobs));
}

void FabricSite::apply(std::uint32_t klass, Ps, Words knobs) {
  for (const Layer layer : kBoth) {
    const RedConfig red = marking::to_red(knobs.subspan(layer * marking::kKnobs));
    for (const std::uint32_t p : ports_[layer])
      n_.fabric.set_red(p, klass, red);
  }
}

namespace {

// What all ports of each layer can send in a period.
Told tell(const NetworkConfig &net, const FabricConfig &fabric, const ScenarioConfig &scenario, Ps period) {
  std::vector<Hop> hops;
  for (const PortConfig &port : fabric.ports)
    hops.push_back({port.node, port.next});
  const FabricSite::Ports ports = layers(hops, scenario.receivers, fabric.uplink_node, fabric.switches);
  const auto classes = static_cast<std::uint32_t>(net.classes.size());
  const auto capacity = [&](FabricSite::Layer layer) {
    std::uint64_t all = 0;
    for (const std::uint32_t p : ports[layer])
      all += static_cast<std::uint64_t>(period / fabric.ports[p].ps_per_byte);
    return std::vector<std::uint32_t>(classes, saturated(all));
  };
  return Told{classes,
              {{"up_capacity_bytes", capacity(FabricSite::up)}, {"down_capacity_bytes", capacity(FabricSite::down)}}};
}

const SiteKind kFabric{"fabric",
                       Shape{FabricSite::kLayers * FabricSite::kOfLayer, FabricSite::kLayers * marking::kKnobs},
                       make<FabricSite>, tell};

} // namespace

} // namespace netsim

// Where a packet goes next where that is not settled for good: links that fail and come back, and packets that are
// spread over equal paths, at random by the switches or by the entropy values that their sender gives them. Without,
// packets follow their flow's fixed ports (ScenarioConfig::routes).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "network.hpp"
#include "random.hpp"

namespace netsim {

class Routing {
public:
  static constexpr std::uint64_t kStream = std::uint64_t{1} << 34;
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  Routing(const Network &network, const RoutingConfig &config, std::uint64_t seed)
      : n_(network), config_(config), random_(seed, kStream) {}

  bool on() const { return !config_.ways.empty(); }
  Ps next_change() const { return change_ < config_.changes.size() ? config_.changes[change_].at : kLatest; }
  // What changes now; from here on the routes are those of its ways, if it has any.
  const LinkChange &change() {
    const LinkChange &now = config_.changes[change_++];
    if (now.ways >= 0)
      ways_ = static_cast<std::size_t>(now.ways);
    return now;
  }

  // The port by which a packet leaves a switch; kNowhere: no way leads to its receiver. A flow keeps its own port for
  // as long as that leads there, and has another by its hash where it does not; a packet with an entropy value has that
  // of both.
  std::uint32_t next(std::uint32_t flow, Ps sent_at, std::uint32_t at) {
    const Route &route = n_.routes[flow];
    const auto own = n_.scenario.routes.begin() + route.first;
    const std::uint32_t receiver = own[route.hops - 1];
    if (n_.fabric.ports()[receiver].node == at)
      return receiver;
    const Ways &ways = config_.ways[ways_];
    const std::size_t cell = std::size_t{at} * config_.leaves + config_.leaf[receiver];
    const auto first = ways.ports.begin() + ways.first[cell], last = ways.ports.begin() + ways.first[cell + 1];
    if (first == last)
      return kNowhere;
    if (config_.spray)
      return first[random_.below(last - first)];
    const auto ports = static_cast<std::uint64_t>(last - first);
    if (config_.entropies > 0) {
      const std::uint64_t flows_value = std::uint64_t{flow} << 16 | n_.entropy(flow, sent_at);
      return first[static_cast<std::ptrdiff_t>(n_.hashed(flows_value << 20 | at) % ports)];
    }
    for (std::uint32_t hop = 0; hop < route.hops; ++hop) {
      if (n_.fabric.ports()[own[hop]].node == at && std::find(first, last, own[hop]) != last)
        return own[hop];
    }
    return first[static_cast<std::ptrdiff_t>(mixed(std::uint64_t{flow} << 20 | at) % ports)];
  }

private:
  const Network &n_;
  const RoutingConfig config_;
  std::size_t ways_ = 0, change_ = 0;
  Pcg32 random_;
};

} // namespace netsim

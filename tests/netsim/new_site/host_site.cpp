// Agents that are hosts (decision/ir/interfaces/host_share.py): each sets the rate of its flows.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "flow_site.hpp"
#include "site_kind.hpp"

namespace netsim {

namespace {

class HostSite final : public Site {
public:
  explicit HostSite(const Surroundings &around)
      : n_(around.network), flows_(around.flows), hosts_(around.network.scenario.hosts) {}

  std::uint32_t agents() const override { return static_cast<std::uint32_t>(hosts_.size()); }
  std::uint32_t group(std::uint32_t host) const override { return host; }
  std::uint32_t life(std::uint32_t) const override { return 1; }
  std::uint32_t next_step(std::uint32_t host) override { return hosts_[host].step++; }
  void observe(std::uint32_t host, Ps, Knobs event) override {
    event[0] = 0;
    for (const Sender &s : n_.senders)
      event[0] += s.active && s.host == host;
    event[1] = static_cast<std::uint32_t>(sent(host) - hosts_[host].counted);
  }
  void event_taken(std::uint32_t host, Ps, bool) override { hosts_[host].counted = sent(host); }
  void event_refused(std::uint32_t, Ps) override {}
  void merge(Words older, Knobs newer) const override { newer[1] += older[1]; }
  void in_force(std::uint32_t host, Knobs knobs) const override { knobs[0] = hosts_[host].share; }
  void apply(std::uint32_t host, Ps now, Words knobs) override {
    hosts_[host].share = knobs[0];
    const std::uint32_t rate = knobs[0] << 14; // as flows have it, Q0.30
    for (std::uint32_t flow = 0; flow < n_.senders.size(); ++flow) {
      if (n_.senders[flow].active && n_.senders[flow].host == host)
        flows_.apply(flow, now, {&rate, 1});
    }
  }

private:
  struct Host {
    std::uint64_t counted = 0;
    std::uint32_t step = 0, share = 1U << 16;
  };

  std::uint64_t sent(std::uint32_t host) const {
    std::uint64_t packets = 0;
    for (const Sender &s : n_.senders)
      packets += s.host == host ? s.sent_total : 0;
    return packets;
  }

  Network &n_;
  FlowSite &flows_;
  std::vector<Host> hosts_;
};

SiteFacts facts_of_hosts(const NetworkConfig &net, const FabricConfig &, const ScenarioConfig &scenario, Ps period) {
  const auto line = static_cast<std::uint32_t>(std::min<Ps>(period / net.ps_per_byte, ~std::uint32_t{0}));
  return SiteFacts{scenario.hosts, {{"line_bytes", std::vector<std::uint32_t>(scenario.hosts, line)}}};
}

const SiteKind kHosts{"host", Shape{2, 1}, make<HostSite>, facts_of_hosts};

} // namespace

} // namespace netsim

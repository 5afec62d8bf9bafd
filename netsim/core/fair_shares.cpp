#include "fair_shares.hpp"

#include <vector>

#include "max_min.hpp"

namespace netsim {

namespace {
constexpr Ps kInterval = 1'000'000; // it looks at who is there once a microsecond at the most
} // namespace

void FairShares::began(Ps now, std::uint32_t flow) {
  Sender &s = n_.senders[flow];
  if (s.end_psn == kUnlimited)
    s.pace_at = s.pace_base = now + kInterval; // not before it has its share
  share_soon(now);
}

void FairShares::share_soon(Ps now) {
  if (planned_)
    return;
  planned_ = true;
  n_.loop.set(Streams::due(0), now + kInterval);
}

void FairShares::share(Ps now) {
  planned_ = false;
  sending_.turns(now);
  n_.loop.clear(Streams::due(0));
  const std::uint32_t hosts = n_.scenario.hosts;
  std::vector<double> capacity(hosts, 1.0);
  for (const Port &port : n_.fabric.ports())
    capacity.push_back(static_cast<double>(n_.net.ps_per_byte) / static_cast<double>(port.ps_per_byte));
  std::vector<std::uint32_t> flows, offsets{0}, links;
  for (std::uint32_t f = 0; f < n_.senders.size(); ++f) {
    if (!n_.senders[f].active)
      continue;
    flows.push_back(f);
    links.push_back(n_.senders[f].host);
    for (std::uint32_t h = 0; h < n_.routes[f].hops; ++h)
      links.push_back(hosts + n_.scenario.routes[n_.routes[f].first + h]);
    offsets.push_back(static_cast<std::uint32_t>(links.size()));
  }
  std::vector<double> rate(flows.size());
  max_min(capacity, offsets, links, std::vector<std::uint8_t>(flows.size(), 1), rate);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    flows_.set_rate(now, flows[i], rate[i]);
    Sender &s = n_.senders[flows[i]];
    if (s.end_psn == kUnlimited && s.last_burst_ps == 0) {
      // Flows for ever take turns from the start; all at once they would leave a queue that a full link never drains.
      const double turn = static_cast<double>(i) / static_cast<double>(flows.size());
      s.pace_at = s.pace_base = now + static_cast<Ps>(turn * static_cast<double>(n_.data_ps) / s.rate);
      sending_.schedule(s);
    }
  }
}

} // namespace netsim

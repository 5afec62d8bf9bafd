// The kinds of places where agents live, by the names that interfaces have for them (decision/ir/interface.py, `site`).
// A site's .cpp says its kind, a constant at the end of the file; nothing else lists the sites, so that another one is
// its own files only:
//
//   const SiteKind kQueues{"queue", Shape{3, 3}, make<QueueSite>, facts_of_queue};
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "baseline.hpp"
#include "cohort_at.hpp"
#include "network.hpp"

namespace netsim {

class FlowSite;

// The parts of a simulation that a site may look at and act on.
struct Surroundings {
  Surroundings(Network &n, FlowSite &f) : network(n), flows(f) {}

  Network &network;
  FlowSite &flows;
};

// A cohort, the site where its agents live, and where these are flows, who hears of them.
struct Settled {
  std::unique_ptr<Site> site;
  std::unique_ptr<Cohort> cohort;
  Baseline *hears = nullptr;
};

template <class AtSite>
Settled make(const Surroundings &around, std::uint32_t number, Decider *decider, const CohortConfig &config) {
  auto site = std::make_unique<AtSite>(around);
  auto cohort = std::make_unique<CohortAt<AtSite>>(around.network.loop, number, *site, decider, config);
  Baseline *hears = nullptr;
  if constexpr (std::is_base_of_v<Baseline, AtSite>) {
    site->join(*cohort, Streams::tick(number));
    hears = site.get();
  }
  return {std::move(site), std::move(cohort), hears};
}

// How many agents a network has, and the operator's parameters that it says, of each of them.
struct SiteFacts {
  std::uint32_t agents = 0;
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> params;
};

class SiteKind {
public:
  using Make = Settled (*)(const Surroundings &, std::uint32_t number, Decider *, const CohortConfig &);
  using FactsOf = SiteFacts (*)(const NetworkConfig &, const FabricConfig &, const ScenarioConfig &, Ps period);

  // `shape`: all that its agents are told and may set. `make` and `facts` are null for the flows, which are the
  // simulation's own. `at_flows`: its agents are the flows, which nobody else steers. The kind has to outlive every
  // simulation.
  SiteKind(const char *name, const Shape &shape, Make make, FactsOf facts, bool at_flows = false);
  SiteKind(const SiteKind &) = delete;
  SiteKind &operator=(const SiteKind &) = delete;

  static const SiteKind *of(std::string_view name); // null where there is none
  static std::vector<std::string> names();

  const std::string name;
  const Shape shape;
  const Make make;
  const FactsOf facts;
  const bool at_flows;
};

} // namespace netsim

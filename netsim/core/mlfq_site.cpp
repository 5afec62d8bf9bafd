#include "mlfq_site.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "saturated.hpp"

namespace netsim {

namespace {

std::uint32_t q6(std::uint64_t ns) { return saturated((ns << 6) / 1000); }

} // namespace

void MlfqSite::observe(std::uint32_t, Ps, Knobs event) {
  const Finished &now = n_.finished;
  for (std::size_t b = 0; b < Finished::kBins; ++b) {
    std::uint32_t *const bin = &event[kOfBin * b];
    bin[flows_q16] = saturated((now.bins[b].flows - counted_.bins[b].flows) << 16);
    bin[alone_q6] = q6(now.bins[b].alone_ns - counted_.bins[b].alone_ns);
    bin[took_q6] = q6(now.bins[b].took_ns - counted_.bins[b].took_ns);
  }
  event[all_q16] = saturated((now.flows - counted_.flows) << 16);
  event[rates_q16] = saturated(now.rates_q16 - counted_.rates_q16);
}

void MlfqSite::merge(Words older, Knobs newer) const {
  for (std::size_t s = 0; s < newer.size(); ++s)
    newer[s] = saturated(std::uint64_t{newer[s]} + older[s]);
}

void MlfqSite::in_force(std::uint32_t, Knobs knobs) const {
  const std::span<const std::uint32_t> limits = n_.demotion.limits(0);
  std::copy_n(limits.begin(), knobs.size(), knobs.begin());
}

// A threshold below the one before it is taken for that one.
void MlfqSite::apply(std::uint32_t, Ps, Words knobs) {
  std::array<std::uint32_t, kMaxClasses> limits{};
  std::uint32_t least = 0;
  for (std::size_t k = 0; k < knobs.size(); ++k)
    limits[k] = least = std::max(least, knobs[k]);
  n_.demotion.set({limits.data(), knobs.size()});
}

namespace {

Settled settle_mlfq(const Surroundings &around, std::uint32_t number, Decider *decider, const CohortConfig &config) {
  if (config.shape.knobs + 1 != around.network.demotion.levels())
    throw std::invalid_argument("the network's demotion has " + std::to_string(around.network.demotion.levels() - 1) +
                                " thresholds, and agents set " + std::to_string(config.shape.knobs) +
                                "; give it as many to begin with");
  return make<MlfqSite>(around, number, decider, config);
}

SiteFacts facts_of_mlfq(const NetworkConfig &, const FabricConfig &, const ScenarioConfig &, Ps) {
  return SiteFacts{1, {}};
}

const SiteKind kMlfq{"mlfq", Shape{MlfqSite::kSignals, kMaxClasses - 1}, settle_mlfq, facts_of_mlfq};

} // namespace

} // namespace netsim

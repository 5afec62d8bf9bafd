#include "max_min.hpp"

#include <algorithm>
#include <cstddef>

namespace netsim {

namespace {

struct Link {
  double left = 0.0;       // capacity that no fixed flow has
  std::uint32_t open = 0;  // flows on it that are not fixed
  std::uint32_t first = 0; // its flows in `members`, `first` .. `end`
  std::uint32_t end = 0;

  double share() const { return left / open; }
};

} // namespace

void max_min(const std::vector<double> &capacity, const std::vector<std::uint32_t> &offsets,
             const std::vector<std::uint32_t> &links, const std::vector<std::uint8_t> &active,
             std::vector<double> &rate) {
  const std::size_t flows = active.size();
  rate.assign(flows, 0.0);
  std::vector<Link> state;
  state.reserve(capacity.size());
  for (const double c : capacity)
    state.push_back(Link{c});

  std::vector<std::uint8_t> open(active);
  for (std::size_t f = 0; f < flows; ++f) {
    for (std::uint32_t i = offsets[f]; active[f] && i < offsets[f + 1]; ++i)
      ++state[links[i]].open;
  }
  std::uint32_t total = 0;
  std::vector<std::uint32_t> used; // links with open flows
  for (std::uint32_t l = 0; l < state.size(); ++l) {
    state[l].first = state[l].end = total;
    total += state[l].open;
    if (state[l].open > 0)
      used.push_back(l);
  }
  std::vector<std::uint32_t> members(total);
  for (std::size_t f = 0; f < flows; ++f) {
    for (std::uint32_t i = offsets[f]; active[f] && i < offsets[f + 1]; ++i)
      members[state[links[i]].end++] = static_cast<std::uint32_t>(f);
  }

  while (!used.empty()) {
    const std::uint32_t bottleneck = *std::min_element(used.begin(), used.end(), [&](std::uint32_t a, std::uint32_t b) {
      return state[a].share() < state[b].share();
    });
    const double share = std::max(state[bottleneck].share(), 0.0); // rounding may have taken a little too much
    for (std::uint32_t m = state[bottleneck].first; m < state[bottleneck].end; ++m) {
      const std::uint32_t f = members[m];
      if (!open[f])
        continue;
      open[f] = 0;
      rate[f] = share;
      for (std::uint32_t i = offsets[f]; i < offsets[f + 1]; ++i) {
        state[links[i]].left -= share;
        --state[links[i]].open;
      }
    }
    std::erase_if(used, [&](std::uint32_t l) { return state[l].open == 0; });
  }
}

} // namespace netsim

#include "site_kind.hpp"

#include <algorithm>

namespace netsim {

namespace {

// Filled before main, in any order; a local so that it is there when the first kind comes.
std::vector<const SiteKind *> &kinds() {
  static std::vector<const SiteKind *> all;
  return all;
}

} // namespace

SiteKind::SiteKind(const char *name, const Shape &shape, Make make, FactsOf facts, bool at_flows)
    : name(name), shape(shape), make(make), facts(facts), at_flows(at_flows) {
  kinds().push_back(this);
}

const SiteKind *SiteKind::of(std::string_view name) {
  const auto at =
      std::find_if(kinds().begin(), kinds().end(), [&](const SiteKind *kind) { return kind->name == name; });
  return at == kinds().end() ? nullptr : *at;
}

std::vector<std::string> SiteKind::names() {
  std::vector<std::string> names;
  for (const SiteKind *kind : kinds())
    names.push_back(kind->name);
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace netsim

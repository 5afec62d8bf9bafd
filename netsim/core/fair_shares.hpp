// The ideal: every flow at its max-min fair share of the links, at once, whenever flows come or go.
#pragma once

#include <cstdint>

#include "flow_site.hpp"
#include "network.hpp"

namespace netsim {

class FairShares {
public:
  FairShares(Network &network, Sending &sending, FlowSite &flows) : n_(network), sending_(sending), flows_(flows) {}

  void began(Ps now, std::uint32_t flow);
  void share_soon(Ps now);
  void share(Ps now);

private:
  Network &n_;
  Sending &sending_;
  FlowSite &flows_;
  bool planned_ = false; // to share
};

} // namespace netsim

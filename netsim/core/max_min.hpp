// The ideal: max-min fair rates, by progressive filling (Bertsekas and Gallager, Data Networks, section 6.5.2).
#pragma once

#include <cstdint>
#include <vector>

namespace netsim {

// Rates of all flows so that none can rise without lowering one that is no higher. `rate` gets a value a flow in the
// unit of `capacity`; 0 where the flow is not active or its path is empty. Flow f crosses links[offsets[f] .. offsets[f
// + 1]), none of them twice. A cap on a flow is a link of its own.
//
// Takes O(links) for each bottleneck and O(length) for each path.
void max_min(const std::vector<double> &capacity, const std::vector<std::uint32_t> &offsets,
             const std::vector<std::uint32_t> &links, const std::vector<std::uint8_t> &active,
             std::vector<double> &rate);

} // namespace netsim

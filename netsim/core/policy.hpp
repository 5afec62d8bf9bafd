// What decides the rate of a flow when an RTT response comes back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "time.hpp"

namespace netsim {

// The raw event, the same structure that the firmware gets (spec/signals.py): all uint32, in this order.
struct Event {
  std::uint32_t request_sent_ns;
  std::uint32_t response_ns;
  std::uint32_t cnp_count;
  std::uint32_t nack_count;
  std::uint32_t sent_bytes;
  std::uint32_t queue_bytes;
};
static_assert(sizeof(Event) == 24);

// The operator's parameters, in the order of spec/signals.py.
struct Params {
  std::uint32_t base_rtt_recip_q32;
  std::uint32_t rate_min_q30;
  std::uint32_t rate_max_q30;
  std::uint32_t rate_initial_q30;
};
static_assert(sizeof(Params) == 16);

struct Decision {
  double rate;             // new rate, fraction of line rate, what the NIC paces with
  std::uint32_t rate_q30;  // rate in force before the decision
  std::int32_t action_q16; // multiplier - 1, before the rate was clamped
  float output;            // network output, NaN where there is no network
  Ps takes;                // of the engine's time, where the policy is timed
};

class Policy {
public:
  virtual ~Policy() = default;
  virtual double initial_rate() const = 0;
  virtual void reset(std::uint32_t flow) = 0;  // the flow is new
  virtual bool timed() const { return false; } // its decisions say what they take
  virtual Decision decide(std::uint32_t flow, const Event &event) = 0;
};

// One base RTT, or its reciprocal, a flow.
inline void check_base_rtts(const std::vector<std::uint32_t> &values, std::size_t flows) {
  if (values.size() != flows || std::find(values.begin(), values.end(), 0U) != values.end())
    throw std::invalid_argument("a base RTT above zero is needed for each flow");
}

constexpr double q30_to_rate(std::uint32_t rate) { return rate * 0x1p-30; }
constexpr std::uint32_t rate_to_q30(double rate) { return static_cast<std::uint32_t>(rate * 0x1p30 + 0.5); }

} // namespace netsim

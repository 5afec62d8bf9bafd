// What integer firmware keeps in a NIC: a zeroed context a flow that begins with the rate, and the operator's
// parameters.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "policy.hpp"

namespace netsim {

class Contexts {
public:
  Contexts(std::uint32_t bytes, const Params &params, std::uint32_t flows)
      : params_(params), base_rtt_recip_q32_(flows, params.base_rtt_recip_q32), bytes_(bytes),
        stride_((bytes + 7) / 8 * 8), contexts_(flows * stride_ / 8, 0) {}

  double initial_rate() const { return q30_to_rate(params_.rate_initial_q30); }
  std::uint32_t bytes() const { return bytes_; }
  void set_base_rtt_recips(std::vector<std::uint32_t> q32) { // one a flow: an operator's parameter
    check_base_rtts(q32, base_rtt_recip_q32_.size());
    base_rtt_recip_q32_ = std::move(q32);
  }

  void reset(std::uint32_t flow) { std::memset(of(flow), 0, stride_); }
  void *of(std::uint32_t flow) { return &contexts_[flow * (stride_ / 8)]; }
  const Params &params(std::uint32_t flow) {
    params_.base_rtt_recip_q32 = base_rtt_recip_q32_[flow];
    return params_;
  }
  std::uint32_t rate_q30(std::uint32_t flow) { // in force
    std::uint32_t rate;
    std::memcpy(&rate, of(flow), sizeof rate);
    return rate != 0 ? rate : params_.rate_initial_q30;
  }

  // What was decided: the context has changed, `rate_q20` was answered, `before_q30` was in force.
  Decision decision(std::uint32_t flow, std::uint32_t before_q30, std::uint32_t rate_q20) {
    Decision decision{};
    decision.rate_q30 = before_q30;
    // What the device paces with; 0 would stop the flow for good and with it its probes.
    decision.rate = (rate_q20 == 0 ? 1 : rate_q20 > (1U << 20) ? (1U << 20) : rate_q20) * 0x1p-20;
    const double multiplier = static_cast<double>(rate_q30(flow)) / before_q30;
    decision.action_q16 = static_cast<std::int32_t>(std::lround((multiplier - 1.0) * 65536.0));
    decision.output = std::numeric_limits<float>::quiet_NaN();
    return decision;
  }

private:
  Params params_;
  std::vector<std::uint32_t> base_rtt_recip_q32_; // of each flow
  std::uint32_t bytes_;
  std::size_t stride_;                  // a multiple of 8
  std::vector<std::uint64_t> contexts_; // one after the other
};

} // namespace netsim

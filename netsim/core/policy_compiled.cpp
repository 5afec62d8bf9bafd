#include "policy_compiled.hpp"

#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

namespace netsim {

CompiledPolicy::CompiledPolicy(const std::string &path, const Params &params, std::uint32_t flows)
    : params_(params), base_rtt_recip_q32_(flows, params.base_rtt_recip_q32) {
  library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr)
    throw std::runtime_error(dlerror());
  decide_ = reinterpret_cast<Decide>(dlsym(library_, "rlcc_decide"));
  const auto *bytes = static_cast<const std::uint32_t *>(dlsym(library_, "rlcc_flow_bytes"));
  if (decide_ == nullptr || bytes == nullptr || *bytes < 4 || *bytes > 4096) {
    dlclose(library_);
    throw std::runtime_error(path + " does not export rlcc_decide and a rlcc_flow_bytes of 4 to 4096");
  }
  bytes_ = *bytes;
  stride_ = (bytes_ + 7) / 8 * 8;
  contexts_.assign(flows * stride_ / 8, 0);
}

void CompiledPolicy::set_base_rtt_recips(std::vector<std::uint32_t> q32) {
  check_base_rtts(q32, base_rtt_recip_q32_.size());
  base_rtt_recip_q32_ = std::move(q32);
}

CompiledPolicy::~CompiledPolicy() { dlclose(library_); }

void CompiledPolicy::reset(std::uint32_t flow) { std::memset(&contexts_[flow * (stride_ / 8)], 0, stride_); }

std::uint32_t CompiledPolicy::rate_of(const std::uint8_t *context) const {
  std::uint32_t rate; // the context's first field
  std::memcpy(&rate, context, sizeof rate);
  return rate != 0 ? rate : params_.rate_initial_q30;
}

Decision CompiledPolicy::decide(std::uint32_t flow, const Event &event) {
  auto *context = reinterpret_cast<std::uint8_t *>(&contexts_[flow * (stride_ / 8)]);
  Decision decision{};
  decision.rate_q30 = rate_of(context);
  params_.base_rtt_recip_q32 = base_rtt_recip_q32_[flow];
  const std::uint32_t rate_q20 = decide_(context, &event, &params_);
  // What the device paces with; 0 would stop the flow for good and with it its probes.
  decision.rate = (rate_q20 == 0 ? 1 : rate_q20 > (1U << 20) ? (1U << 20) : rate_q20) * 0x1p-20;
  const double multiplier = static_cast<double>(rate_of(context)) / decision.rate_q30;
  decision.action_q16 = static_cast<std::int32_t>(std::lround((multiplier - 1.0) * 65536.0));
  decision.output = std::numeric_limits<float>::quiet_NaN();
  return decision;
}

} // namespace netsim

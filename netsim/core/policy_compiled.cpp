#include "policy_compiled.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace netsim {

CompiledPolicy::CompiledPolicy(const std::string &path, const Params &params, std::uint32_t flows) {
  library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr)
    throw std::runtime_error(dlerror());
  decide_ = reinterpret_cast<Decide>(dlsym(library_, "rlcc_decide"));
  const auto *bytes = static_cast<const std::uint32_t *>(dlsym(library_, "rlcc_flow_bytes"));
  if (decide_ == nullptr || bytes == nullptr || *bytes < 4 || *bytes > 4096) {
    dlclose(library_);
    throw std::runtime_error(path + " does not export rlcc_decide and a rlcc_flow_bytes of 4 to 4096");
  }
  contexts_.emplace(*bytes, params, flows);
}

CompiledPolicy::~CompiledPolicy() { dlclose(library_); }

Decision CompiledPolicy::decide(std::uint32_t flow, const Event &event) {
  const std::uint32_t before = contexts_->rate_q30(flow);
  const std::uint32_t rate_q20 = decide_(contexts_->of(flow), &event, &contexts_->params(flow));
  return contexts_->decision(flow, before, rate_q20);
}

} // namespace netsim

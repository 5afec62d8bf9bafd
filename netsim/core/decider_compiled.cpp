#include "decider_compiled.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace netsim {

CompiledDecider::CompiledDecider(const std::string &path, const std::string &bytes_symbol, const DeviceConfig &config,
                                 std::uint32_t agents) {
  library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr)
    throw std::runtime_error(dlerror());
  decide_ = dlsym(library_, "rlcc_decide");
  const auto *bytes = static_cast<const std::uint32_t *>(dlsym(library_, bytes_symbol.c_str()));
  const std::uint32_t least = config.initial < 0 ? 0 : 4;
  if (decide_ == nullptr || bytes == nullptr || *bytes < least || *bytes > 4096) {
    dlclose(library_);
    throw std::runtime_error(path + " does not export rlcc_decide and a " + bytes_symbol + " of " +
                             std::to_string(least) + " to 4096");
  }
  contexts_.emplace(*bytes, config, agents);
}

CompiledDecider::~CompiledDecider() { dlclose(library_); }

Decision CompiledDecider::decide(std::uint32_t agent, Words event, Knobs knobs) {
  const std::uint32_t before = contexts_->in_force(agent);
  contexts_->remember(agent);
  void *context = contexts_->of(agent);
  const std::uint32_t *params = contexts_->params.of(agent);
  if (knobs.size() == 1)
    knobs[0] = reinterpret_cast<DecideOne>(decide_)(context, event.data(), params);
  else
    reinterpret_cast<DecideSeveral>(decide_)(context, event.data(), params, knobs.data());
  return contexts_->decision(agent, before, knobs);
}

} // namespace netsim

// The emitted C itself, loaded as a shared library: what runs in the device decides in the simulator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "contexts.hpp"
#include "decider.hpp"

namespace netsim {

class CompiledDecider final : public Decider {
public:
  // Throws std::runtime_error where the library cannot be loaded or lacks rlcc_decide or `bytes_symbol`.
  CompiledDecider(const std::string &path, const std::string &bytes_symbol, const DeviceConfig &config,
                  std::uint32_t agents);
  ~CompiledDecider() override;
  CompiledDecider(const CompiledDecider &) = delete;
  CompiledDecider &operator=(const CompiledDecider &) = delete;

  std::uint32_t initial(std::uint32_t agent) override { return contexts_->initial(agent); }
  void first(std::uint32_t agent, Knobs knobs) override { contexts_->first(agent, knobs); }
  void reset(std::uint32_t agent) override { contexts_->reset(agent); }
  Decision decide(std::uint32_t agent, Words event, Knobs knobs) override;
  void set_param(std::uint32_t param, std::uint32_t agent, std::uint32_t value) override {
    contexts_->params.set(param, agent, value);
  }
  Params &params() { return contexts_->params; }
  std::uint32_t context_bytes() const { return contexts_->bytes(); }

private:
  // One knob is the return value, several are written to a structure of them.
  using DecideOne = std::uint32_t (*)(void *, const std::uint32_t *, const std::uint32_t *);
  using DecideSeveral = void (*)(void *, const std::uint32_t *, const std::uint32_t *, std::uint32_t *);
  void *library_ = nullptr;
  void *decide_ = nullptr;
  std::optional<Contexts> contexts_; // the library says of how many bytes
};

} // namespace netsim

// The emitted C itself, loaded as a shared library: what runs in the NIC decides in the simulator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "contexts.hpp"
#include "policy.hpp"

namespace netsim {

class CompiledPolicy final : public Policy {
public:
  // Throws std::runtime_error where the library cannot be loaded or lacks rlcc_decide or rlcc_flow_bytes.
  CompiledPolicy(const std::string &path, const Params &params, std::uint32_t flows);
  ~CompiledPolicy() override;
  CompiledPolicy(const CompiledPolicy &) = delete;
  CompiledPolicy &operator=(const CompiledPolicy &) = delete;

  double initial_rate() const override { return contexts_->initial_rate(); }
  void reset(std::uint32_t flow) override { contexts_->reset(flow); }
  Decision decide(std::uint32_t flow, const Event &event) override;

  void set_base_rtt_recips(std::vector<std::uint32_t> q32) { contexts_->set_base_rtt_recips(std::move(q32)); }
  std::uint32_t context_bytes() const { return contexts_->bytes(); }

private:
  using Decide = std::uint32_t (*)(void *, const Event *, const Params *);
  void *library_ = nullptr;
  Decide decide_ = nullptr;
  std::optional<Contexts> contexts_; // the library says of how many bytes
};

} // namespace netsim

// The emitted C itself, loaded as a shared library: what runs in the NIC decides in the simulator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy.hpp"

namespace netsim {

class CompiledPolicy final : public Policy {
public:
  // Throws std::runtime_error where the library cannot be loaded or lacks rlcc_decide or rlcc_flow_bytes.
  CompiledPolicy(const std::string &path, const Params &params, std::uint32_t flows);
  ~CompiledPolicy() override;
  CompiledPolicy(const CompiledPolicy &) = delete;
  CompiledPolicy &operator=(const CompiledPolicy &) = delete;

  double initial_rate() const override { return q30_to_rate(params_.rate_initial_q30); }
  void reset(std::uint32_t flow) override;
  Decision decide(std::uint32_t flow, const Event &event) override;

  void set_base_rtt_recips(std::vector<std::uint32_t> q32); // one a flow: an operator's parameter
  std::uint32_t context_bytes() const { return bytes_; }
  const std::uint8_t *context(std::uint32_t flow) const { return bytes_of(flow); }

private:
  const std::uint8_t *bytes_of(std::uint32_t flow) const {
    return reinterpret_cast<const std::uint8_t *>(contexts_.data()) + std::size_t{flow} * stride_;
  }
  std::uint32_t rate_of(const std::uint8_t *context) const;

  using Decide = std::uint32_t (*)(void *, const Event *, const Params *);
  void *library_ = nullptr;
  Decide decide_ = nullptr;
  Params params_;
  std::vector<std::uint32_t> base_rtt_recip_q32_; // of each flow
  std::uint32_t bytes_ = 0;
  std::size_t stride_ = 0;              // a multiple of 8
  std::vector<std::uint64_t> contexts_; // one zeroed context a flow, one after the other
};

} // namespace netsim

// Interpreter of the integer decision program (spec/program.py), bit for bit what the emitted C computes.
#pragma once

#include <cstdint>
#include <vector>

#include "policy.hpp"

namespace netsim {

enum class Op : std::uint8_t { // the numbers of spec.program.Op
  constant,
  event,
  param,
  state,
  add,
  sub,
  mul,
  shl,
  shr,
  wrap_sub,
  mul_shr,
  min,
  max,
  gt,
  eq,
  select,
  table,
  trees
};

struct ProgramNode {
  Op op = Op::constant;
  std::uint32_t a = 0, b = 0, c = 0; // operands: earlier nodes
  std::int64_t imm = 0;
};

struct ProgramTree {
  std::vector<std::uint32_t> features;
  std::vector<std::int64_t> thresholds;
  std::vector<std::int64_t> leaves;
};

struct ProgramConfig {
  std::vector<ProgramNode> nodes;
  std::vector<std::uint32_t> tree_args; // nodes that the ensemble looks at
  std::vector<ProgramTree> trees;
  std::vector<std::vector<std::int64_t>> tables;
  std::int64_t bias = 0;
  std::vector<std::uint32_t> state_nodes; // written back; the first field is rate_q30
  std::uint32_t result = 0;
  std::int32_t multiplier_node = -1; // the multiplier of the rate, Q16; -1: not kept by the program
};

class ProgramPolicy final : public Policy {
public:
  // Throws std::invalid_argument where the program is not well formed.
  ProgramPolicy(ProgramConfig program, const Params &params, std::uint32_t flows);

  double initial_rate() const override { return q30_to_rate(params_.rate_initial_q30); }
  void reset(std::uint32_t flow) override;
  Decision decide(std::uint32_t flow, const Event &event) override;

  void set_base_rtt_recips(std::vector<std::uint32_t> q32); // one a flow: an operator's parameter

  // The value of every node for one input, and the context that it would write back (for tests).
  std::vector<std::int64_t> trace(const Event &event, const std::vector<std::int64_t> &context);

private:
  void evaluate(const Event &event, const std::int64_t *context);
  std::int64_t ensemble() const;

  ProgramConfig program_;
  Params params_;
  std::vector<std::uint32_t> base_rtt_recip_q32_; // of each flow
  std::vector<std::int64_t> values_;
  std::vector<std::int64_t> contexts_; // one a flow, its fields in order
};

} // namespace netsim

// Interpreter of the integer decision program (decision/program.py), bit for bit what the emitted C computes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "contexts.hpp"
#include "decider.hpp"

namespace netsim {

enum class Op : std::uint8_t { // the numbers of decision.program.Op
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

struct ProgramBranch {
  std::uint32_t feature = 0;
  std::int64_t threshold = 0;
  std::array<std::int32_t, 2> sides{}; // not above the threshold, above it: a later branch, or -1 - k for leaf k
};

struct ProgramTree {
  std::vector<ProgramBranch> branches; // the root first; none: leaf 0
  std::vector<std::int64_t> leaves;    // a row of all outputs each
};

struct ProgramConfig {
  std::vector<ProgramNode> nodes;
  std::vector<std::uint32_t> tree_args; // nodes that the forest looks at
  std::vector<ProgramTree> trees;
  std::vector<std::vector<std::int64_t>> tables;
  std::vector<std::int64_t> bias;         // an output of the forest each
  std::vector<std::uint32_t> state_nodes; // written back, in the order of the context
  std::vector<std::uint32_t> results;     // a knob each
  std::int32_t multiplier_node = -1;      // a scale action's multiplier, Q16; -1: the program does not keep it
};

class ProgramDecider final : public Decider {
public:
  // Throws std::invalid_argument where the program is not well formed.
  ProgramDecider(ProgramConfig program, const DeviceConfig &config, std::uint32_t agents);

  std::uint32_t initial(std::uint32_t agent) override {
    return config_.initial < 0 ? 0 : params_.of(agent)[config_.initial];
  }
  void reset(std::uint32_t agent) override;
  Decision decide(std::uint32_t agent, Words event, Knobs knobs) override;
  void set_param(std::uint32_t param, std::uint32_t agent, std::uint32_t value) override {
    params_.set(param, agent, value);
  }
  Params &params() { return params_; }

  // The value of every node for one input, and the context that it would write back (for tests).
  std::vector<std::int64_t> trace(const std::vector<std::uint32_t> &event, const std::vector<std::int64_t> &context);

private:
  void evaluate(Words event, const std::uint32_t *params, const std::int64_t *context);
  void walk(); // all outputs of the forest, to sums_

  ProgramConfig program_;
  DeviceConfig config_;
  Params params_;
  std::vector<std::int64_t> values_;
  std::vector<std::int64_t> sums_;
  std::vector<std::int64_t> contexts_; // one an agent, its fields in order
};

} // namespace netsim

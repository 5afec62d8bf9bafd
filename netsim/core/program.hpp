// Interpreter of the integer decision program (decision/ir/program.py), bit for bit what the emitted C computes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "decider.hpp"

namespace netsim {

enum class Op : std::uint8_t { // the numbers of decision.ir.program.Op
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
  trees,
  mask
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
  std::int32_t made_node = -1;            // 1 where an agent's phase makes the step; -1: none does
};

class Program {
public:
  // Throws std::invalid_argument where the program is not well formed, or reads what is not there.
  Program(ProgramConfig config, std::uint32_t signals, std::size_t params);

  // The value of every node for one input. Ranges are proved, so nothing wraps that should not.
  void run(Words event, const std::uint32_t *params, const std::int64_t *context);
  const std::vector<std::int64_t> &values() const { return values_; }
  std::int64_t value(std::int32_t node) const { return values_[static_cast<std::size_t>(node)]; }
  bool has(std::int64_t node) const { return node < static_cast<std::int64_t>(values_.size()); }
  const ProgramConfig &config() const { return config_; }
  std::size_t fields() const { return config_.state_nodes.size(); } // of a context

private:
  // Trees as they are walked: all of them a level a step, so that none waits for another; a leaf is followed by itself.
  struct Place {
    std::int64_t threshold = 0;
    std::uint32_t arg = 0;                // which of the forest's arguments
    std::array<std::uint32_t, 2> sides{}; // in `places_`
  };
  struct Tree {
    std::uint32_t root = 0;
    std::uint32_t leaves = 0; // a leaf's place less this is its row in `rows_`
  };
  void plant(const ProgramTree &tree);
  void walk(); // all outputs of the forest, to sums_

  ProgramConfig config_;
  std::vector<Place> places_;
  std::vector<Tree> trees_;
  std::uint32_t levels_ = 0;       // of the deepest tree
  std::vector<std::uint32_t> at_;  // where each walk is
  std::vector<std::int64_t> rows_; // of all leaves of all trees
  std::vector<std::int64_t> args_;
  std::vector<std::int64_t> values_;
  std::vector<std::int64_t> sums_;
};

} // namespace netsim

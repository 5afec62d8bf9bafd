#include "program.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace netsim {

Program::Program(ProgramConfig config, std::uint32_t signals, std::size_t params)
    : config_(std::move(config)), values_(config_.nodes.size()) {
  const auto require = [](bool holds) {
    if (!holds)
      throw std::invalid_argument("the decision program is not well formed");
  };
  require(!config_.results.empty());
  for (const std::uint32_t node : config_.results)
    require(has(node));
  for (const std::uint32_t node : config_.state_nodes)
    require(has(node));
  require(has(config_.multiplier_node) && has(config_.made_node));
  for (std::size_t i = 0; i < config_.nodes.size(); ++i) {
    const ProgramNode &n = config_.nodes[i];
    require(n.op <= Op::mask);
    require(n.op <= Op::state || (n.a < i && n.b < i && n.c < i) || n.op == Op::trees);
    const auto index = static_cast<std::uint64_t>(n.imm);
    if (n.op == Op::event)
      require(index < signals);
    if (n.op == Op::param)
      require(index < params);
    if (n.op == Op::state)
      require(index < fields());
    if (n.op == Op::table)
      require(index < config_.tables.size() && !config_.tables[index].empty());
    if (n.op == Op::shl || n.op == Op::shr || n.op == Op::mul_shr || n.op == Op::mask)
      require(index < 64);
    if (n.op == Op::trees) {
      require(index < config_.bias.size());
      for (const std::uint32_t arg : config_.tree_args)
        require(arg < i);
    }
  }
  for (const ProgramTree &tree : config_.trees) {
    const auto branches = static_cast<std::int64_t>(tree.branches.size());
    require(tree.leaves.size() == static_cast<std::size_t>(branches + 1) * config_.bias.size());
    for (std::int64_t place = 0; place < branches; ++place) {
      const ProgramBranch &branch = tree.branches[static_cast<std::size_t>(place)];
      require(branch.feature < config_.tree_args.size());
      for (const std::int64_t side : branch.sides) // ahead only, so that a walk ends
        require(side >= 0 ? side > place && side < branches : -1 - side <= branches);
    }
    plant(tree);
  }
  args_.resize(config_.tree_args.size());
  at_.resize(trees_.size());
}

// Branches, then leaves: rows of the same numbers in `places_` and `rows_`, less those of the branches.
void Program::plant(const ProgramTree &tree) {
  const auto first = static_cast<std::uint32_t>(places_.size());
  const auto branches = static_cast<std::uint32_t>(tree.branches.size());
  const auto leaf = [&](std::uint32_t number) { return first + branches + number; };
  std::vector<std::uint32_t> level(branches, 0);
  for (std::uint32_t b = 0; b < branches; ++b) { // sides lie ahead
    const ProgramBranch &branch = tree.branches[b];
    Place place{branch.threshold, branch.feature, {}};
    for (std::size_t s = 0; s < 2; ++s) {
      const std::int32_t side = branch.sides[s];
      place.sides[s] =
          side >= 0 ? first + static_cast<std::uint32_t>(side) : leaf(static_cast<std::uint32_t>(-1 - side));
      if (side >= 0)
        level[static_cast<std::size_t>(side)] = std::max(level[static_cast<std::size_t>(side)], level[b] + 1);
    }
    levels_ = std::max(levels_, level[b] + 1);
    places_.push_back(place);
  }
  for (std::uint32_t number = 0; number <= branches; ++number)
    places_.push_back(Place{0, 0, {leaf(number), leaf(number)}});
  const std::size_t outputs = std::max<std::size_t>(config_.bias.size(), 1);
  trees_.push_back(Tree{first, leaf(0) - static_cast<std::uint32_t>(rows_.size() / outputs)});
  rows_.insert(rows_.end(), tree.leaves.begin(), tree.leaves.end());
}

void Program::walk() {
  const std::size_t outputs = config_.bias.size();
  sums_.assign(config_.bias.begin(), config_.bias.end());
  for (std::size_t i = 0; i < args_.size(); ++i)
    args_[i] = values_[config_.tree_args[i]];
  for (std::size_t t = 0; t < trees_.size(); ++t)
    at_[t] = trees_[t].root;
  for (std::uint32_t level = 0; level < levels_; ++level) {
    for (std::uint32_t &at : at_) {
      const Place &place = places_[at];
      at = place.sides[args_[place.arg] > place.threshold];
    }
  }
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    const std::int64_t *row = rows_.data() + static_cast<std::size_t>(at_[t] - trees_[t].leaves) * outputs;
    for (std::size_t k = 0; k < outputs; ++k)
      sums_[k] += row[k];
  }
}

void Program::run(Words event, const std::uint32_t *params, const std::int64_t *context) {
  bool walked = false;
  for (std::size_t i = 0; i < config_.nodes.size(); ++i) {
    const ProgramNode &n = config_.nodes[i];
    const std::int64_t a = values_[n.a];
    const std::int64_t b = values_[n.b];
    const auto ua = static_cast<std::uint64_t>(a);
    const auto ub = static_cast<std::uint64_t>(b);
    std::int64_t v = 0;
    switch (n.op) { // arithmetic in uint64: ranges are proved, so nothing wraps that should not
    case Op::constant:
      v = n.imm;
      break;
    case Op::event:
      v = event[static_cast<std::size_t>(n.imm)];
      break;
    case Op::param:
      v = params[static_cast<std::size_t>(n.imm)];
      break;
    case Op::state:
      v = context[n.imm];
      break;
    case Op::add:
      v = static_cast<std::int64_t>(ua + ub);
      break;
    case Op::sub:
      v = static_cast<std::int64_t>(ua - ub);
      break;
    case Op::mul:
      v = static_cast<std::int64_t>(ua * ub);
      break;
    case Op::shl:
      v = static_cast<std::int64_t>(ua << n.imm);
      break;
    case Op::shr:
      v = a >> n.imm;
      break;
    case Op::mask:
      v = static_cast<std::int64_t>(ua & ((std::uint64_t{1} << n.imm) - 1));
      break;
    case Op::wrap_sub:
      v = static_cast<std::uint32_t>(ua - ub);
      break;
    case Op::mul_shr:
      v = static_cast<std::int64_t>((ua * ub) >> n.imm);
      break;
    case Op::min:
      v = std::min(a, b);
      break;
    case Op::max:
      v = std::max(a, b);
      break;
    case Op::gt:
      v = a > b;
      break;
    case Op::eq:
      v = a == b;
      break;
    case Op::select:
      v = a != 0 ? b : values_[n.c];
      break;
    case Op::table:
      v = config_.tables[static_cast<std::size_t>(n.imm)].at(static_cast<std::size_t>(a));
      break;
    case Op::trees:
      if (!std::exchange(walked, true)) // all its outputs in one walk
        walk();
      v = sums_[static_cast<std::size_t>(n.imm)];
      break;
    }
    values_[i] = v;
  }
}

} // namespace netsim

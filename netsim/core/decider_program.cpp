#include "decider_program.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace netsim {

ProgramDecider::ProgramDecider(ProgramConfig program, const DeviceConfig &config, std::uint32_t agents)
    : program_(std::move(program)), config_(config), params_(config.params, agents), values_(program_.nodes.size()) {
  const auto require = [](bool holds) {
    if (!holds)
      throw std::invalid_argument("the decision program is not well formed");
  };
  const std::size_t fields = program_.state_nodes.size();
  require(config.initial < static_cast<std::int64_t>(config.params.size()) && (config.initial < 0 || fields >= 1));
  require(!program_.results.empty() && program_.results.size() == config.knob_shift.size());
  for (const std::uint32_t node : program_.results)
    require(node < values_.size());
  for (const std::uint32_t node : program_.state_nodes)
    require(node < values_.size());
  require(program_.multiplier_node < static_cast<std::int64_t>(values_.size()));
  for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
    const ProgramNode &n = program_.nodes[i];
    require(n.op <= Op::trees);
    require(n.op <= Op::state || (n.a < i && n.b < i && n.c < i) || n.op == Op::trees);
    const auto index = static_cast<std::uint64_t>(n.imm);
    if (n.op == Op::event)
      require(index < config.signals);
    if (n.op == Op::param)
      require(index < params_.size());
    if (n.op == Op::state)
      require(index < fields);
    if (n.op == Op::table)
      require(index < program_.tables.size() && !program_.tables[index].empty());
    if (n.op == Op::shl || n.op == Op::shr || n.op == Op::mul_shr)
      require(index < 64);
    if (n.op == Op::trees) {
      require(index < program_.bias.size());
      for (const std::uint32_t arg : program_.tree_args)
        require(arg < i);
    }
  }
  for (const ProgramTree &tree : program_.trees) {
    const auto branches = static_cast<std::int64_t>(tree.branches.size());
    require(tree.leaves.size() == static_cast<std::size_t>(branches + 1) * program_.bias.size());
    for (std::int64_t place = 0; place < branches; ++place) {
      const ProgramBranch &branch = tree.branches[static_cast<std::size_t>(place)];
      require(branch.feature < program_.tree_args.size());
      for (const std::int64_t side : branch.sides) // ahead only, so that a walk ends
        require(side >= 0 ? side > place && side < branches : -1 - side <= branches);
    }
  }
  contexts_.assign(fields * agents, 0);
}

void ProgramDecider::reset(std::uint32_t agent) {
  const std::size_t fields = program_.state_nodes.size();
  std::fill_n(contexts_.begin() + static_cast<std::ptrdiff_t>(agent * fields), fields, 0);
}

void ProgramDecider::walk() {
  const std::size_t outputs = program_.bias.size();
  sums_.assign(program_.bias.begin(), program_.bias.end());
  for (const ProgramTree &tree : program_.trees) {
    std::int32_t place = tree.branches.empty() ? -1 : 0;
    while (place >= 0) {
      const ProgramBranch &branch = tree.branches[static_cast<std::size_t>(place)];
      place = branch.sides[values_[program_.tree_args[branch.feature]] > branch.threshold];
    }
    const std::int64_t *row = tree.leaves.data() + static_cast<std::size_t>(-1 - place) * outputs;
    for (std::size_t k = 0; k < outputs; ++k)
      sums_[k] += row[k];
  }
}

void ProgramDecider::evaluate(Words event, const std::uint32_t *params, const std::int64_t *context) {
  bool walked = false;
  for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
    const ProgramNode &n = program_.nodes[i];
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
      v = program_.tables[static_cast<std::size_t>(n.imm)].at(static_cast<std::size_t>(a));
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

std::vector<std::int64_t> ProgramDecider::trace(const std::vector<std::uint32_t> &event,
                                                const std::vector<std::int64_t> &context) {
  if (event.size() != config_.signals)
    throw std::invalid_argument("the event has other signals");
  if (context.size() != program_.state_nodes.size())
    throw std::invalid_argument("the context has other fields");
  evaluate(event, params_.of(0), context.data());
  return values_;
}

Decision ProgramDecider::decide(std::uint32_t agent, Words event, Knobs knobs) {
  const std::size_t fields = program_.state_nodes.size();
  std::int64_t *context = contexts_.data() + agent * fields;
  Decision decision;
  const std::uint32_t *params = params_.of(agent);
  if (config_.initial >= 0)
    decision.before = context[0] != 0 ? static_cast<std::uint32_t>(context[0]) : params[config_.initial];
  evaluate(event, params, context);
  for (std::size_t i = 0; i < fields; ++i)
    context[i] = values_[program_.state_nodes[i]];
  for (std::size_t k = 0; k < knobs.size(); ++k) {
    const std::int64_t knob = std::clamp<std::int64_t>(values_[program_.results[k]], 0, ~std::uint32_t{0});
    knobs[k] = to_site(static_cast<std::uint32_t>(knob), config_.knob_shift[k]);
  }
  if (program_.multiplier_node >= 0)
    decision.action = static_cast<std::int32_t>(values_[static_cast<std::size_t>(program_.multiplier_node)] - 65536);
  else if (config_.initial >= 0)
    decision.action = action_of(static_cast<double>(context[0]), decision.before);
  return decision;
}

} // namespace netsim

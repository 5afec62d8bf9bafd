#include "policy_program.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace netsim {

ProgramPolicy::ProgramPolicy(ProgramConfig program, const Params &params, std::uint32_t flows)
    : program_(std::move(program)), params_(params), base_rtt_recip_q32_(flows, params.base_rtt_recip_q32),
      values_(program_.nodes.size()) {
  const auto require = [](bool holds) {
    if (!holds)
      throw std::invalid_argument("the decision program is not well formed");
  };
  const std::size_t fields = program_.state_nodes.size();
  require(fields >= 1 && program_.result < values_.size());
  for (const std::uint32_t node : program_.state_nodes)
    require(node < values_.size());
  require(program_.multiplier_node < static_cast<std::int64_t>(values_.size()));
  for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
    const ProgramNode &n = program_.nodes[i];
    require(n.op <= Op::trees);
    require(n.op <= Op::state || (n.a < i && n.b < i && n.c < i) || n.op == Op::trees);
    const auto index = static_cast<std::uint64_t>(n.imm);
    if (n.op == Op::event)
      require(index < 6);
    if (n.op == Op::param)
      require(index < 4);
    if (n.op == Op::state)
      require(index < fields);
    if (n.op == Op::table)
      require(index < program_.tables.size() && !program_.tables[index].empty());
    if (n.op == Op::shl || n.op == Op::shr || n.op == Op::mul_shr)
      require(index < 64);
    if (n.op == Op::trees) {
      for (const std::uint32_t arg : program_.tree_args)
        require(arg < i);
    }
  }
  for (const ProgramTree &tree : program_.trees) {
    require(tree.features.size() < 16 && tree.thresholds.size() == tree.features.size());
    require(tree.leaves.size() == std::size_t{1} << tree.features.size());
    for (const std::uint32_t feature : tree.features)
      require(feature < program_.tree_args.size());
  }
  contexts_.assign(fields * flows, 0);
}

void ProgramPolicy::reset(std::uint32_t flow) {
  const std::size_t fields = program_.state_nodes.size();
  std::fill_n(contexts_.begin() + static_cast<std::ptrdiff_t>(flow * fields), fields, 0);
}

std::int64_t ProgramPolicy::ensemble() const {
  std::int64_t total = program_.bias;
  for (const ProgramTree &tree : program_.trees) {
    std::size_t leaf = 0;
    for (std::size_t level = 0; level < tree.features.size(); ++level) {
      const std::int64_t value = values_[program_.tree_args[tree.features[level]]];
      leaf |= static_cast<std::size_t>(value > tree.thresholds[level]) << level;
    }
    total += tree.leaves[leaf];
  }
  return total;
}

void ProgramPolicy::evaluate(const Event &event, const std::int64_t *context) {
  const auto events = std::bit_cast<std::array<std::uint32_t, 6>>(event);
  const auto params = std::bit_cast<std::array<std::uint32_t, 4>>(params_);
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
      v = events[static_cast<std::size_t>(n.imm)];
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
      v = ensemble();
      break;
    }
    values_[i] = v;
  }
}

std::vector<std::int64_t> ProgramPolicy::trace(const Event &event, const std::vector<std::int64_t> &context) {
  if (context.size() != program_.state_nodes.size())
    throw std::invalid_argument("the context has other fields");
  evaluate(event, context.data());
  return values_;
}

void ProgramPolicy::set_base_rtt_recips(std::vector<std::uint32_t> q32) {
  check_base_rtts(q32, base_rtt_recip_q32_.size());
  base_rtt_recip_q32_ = std::move(q32);
}

Decision ProgramPolicy::decide(std::uint32_t flow, const Event &event) {
  const std::size_t fields = program_.state_nodes.size();
  std::int64_t *context = &contexts_[flow * fields];
  Decision decision{};
  decision.rate_q30 = context[0] != 0 ? static_cast<std::uint32_t>(context[0]) : params_.rate_initial_q30;
  params_.base_rtt_recip_q32 = base_rtt_recip_q32_[flow];
  evaluate(event, context);
  for (std::size_t i = 0; i < fields; ++i)
    context[i] = values_[program_.state_nodes[i]];
  const auto rate_q20 = std::clamp<std::int64_t>(values_[program_.result], 1, 1 << 20);
  decision.rate = static_cast<double>(rate_q20) * 0x1p-20; // what the device paces with
  if (program_.multiplier_node >= 0) {
    const std::int64_t multiplier = values_[static_cast<std::size_t>(program_.multiplier_node)];
    decision.action_q16 = static_cast<std::int32_t>(multiplier - 65536);
  } else {
    const double multiplier = static_cast<double>(context[0]) / decision.rate_q30;
    decision.action_q16 = static_cast<std::int32_t>(std::lround((multiplier - 1.0) * 65536.0));
  }
  decision.output = std::numeric_limits<float>::quiet_NaN();
  return decision;
}

} // namespace netsim

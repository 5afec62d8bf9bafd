#include "decider_program.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace netsim {

ProgramDecider::ProgramDecider(ProgramConfig program, const DeviceConfig &config, std::uint32_t agents)
    : program_(std::move(program), config.signals, config.params.size()), config_(config), following_(config),
      params_(config.params, agents) {
  const std::size_t fields = program_.fields();
  if (config.initial >= static_cast<std::int64_t>(config.params.size()) || (config.initial >= 0 && fields == 0) ||
      program_.config().results.size() != config.knob_shift.size())
    throw std::invalid_argument("the decision program is not well formed");
  contexts_.assign(fields * agents, 0);
}

void ProgramDecider::reset(std::uint32_t agent) {
  const std::size_t fields = program_.fields();
  std::fill_n(contexts_.begin() + static_cast<std::ptrdiff_t>(agent * fields), fields, 0);
}

std::vector<std::int64_t> ProgramDecider::trace(const std::vector<std::uint32_t> &event,
                                                const std::vector<std::int64_t> &context) {
  if (event.size() != config_.signals)
    throw std::invalid_argument("the event has other signals");
  if (context.size() != program_.fields())
    throw std::invalid_argument("the context has other fields");
  program_.run(event, params_.of(0), context.data());
  return program_.values();
}

Decision ProgramDecider::decide(std::uint32_t agent, Words event, Knobs knobs) {
  const std::size_t fields = program_.fields();
  std::int64_t *context = contexts_.data() + agent * fields;
  Decision decision;
  const std::uint32_t *params = params_.of(agent);
  if (config_.initial >= 0)
    decision.before = config_.known(static_cast<std::uint32_t>(context[0]), params);
  program_.run(event, params, context);
  const ProgramConfig &p = program_.config();
  bool changes = false;
  for (std::size_t i = 0; i < fields; ++i) {
    changes |= context[i] != program_.values()[p.state_nodes[i]];
    context[i] = program_.values()[p.state_nodes[i]];
  }
  decision.late = config_.may_be_late && !changes;
  for (std::size_t k = 0; k < knobs.size(); ++k) {
    const std::int64_t knob = std::clamp<std::int64_t>(program_.values()[p.results[k]], 0, ~std::uint32_t{0});
    knobs[k] = to_site(static_cast<std::uint32_t>(knob), config_.knob_shift[k]);
  }
  if (p.made_node >= 0 && program_.value(p.made_node) != 0)
    decision.maker = Maker::phase; // no action
  else if (p.multiplier_node >= 0)
    decision.action = static_cast<std::int32_t>(program_.value(p.multiplier_node) - 65536);
  else if (config_.initial >= 0)
    decision.action = action_of(config_.knob(static_cast<std::uint32_t>(context[0])), config_.knob(decision.before));
  return decision;
}

} // namespace netsim

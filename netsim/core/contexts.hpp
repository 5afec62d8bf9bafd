// What integer firmware has beside an event: the operator's parameters, and a context an agent, zeroed when it is new.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "decider.hpp"
#include "program.hpp"

namespace netsim {

// How a device's numbers stand to its site's.
struct DeviceConfig {
  std::uint32_t signals = 0;
  std::vector<std::uint32_t> params;     // in the order of the interface
  std::vector<std::uint32_t> knob_shift; // of each knob: bits by which the site's unit is finer
  std::int32_t initial = -1;   // the parameter that a new agent's first word of context stands for: a knob in force;
                               // -1: contexts keep no knob
  std::int32_t new_phase = -1; // of a new agent, above the knob in that word; -1: the word is the knob alone
  std::optional<ProgramConfig> follows; // from that knob alone to all of them, as a site takes them
  bool may_be_late = false; // a late answer leaves a context as it is, to the last bit, and nothing else does

  static constexpr std::uint32_t kPhaseShift = 30; // decision.ir.interface.PHASE_SHIFT
  static constexpr std::uint32_t kBelow = (std::uint32_t{1} << kPhaseShift) - 1;

  // What a first word of context stands for: a new agent's is 0.
  std::uint32_t known(std::uint32_t word, const std::uint32_t *values) const {
    return word != 0 ? word : first(values[initial]);
  }
  std::uint32_t first(std::uint32_t knob) const {
    return new_phase < 0 ? knob : std::min(knob, kBelow) | static_cast<std::uint32_t>(new_phase) << kPhaseShift;
  }
  std::uint32_t phase(std::uint32_t word) const { return word & ~kBelow; } // where it is
  std::uint32_t knob(std::uint32_t word) const { return new_phase < 0 ? word : word & kBelow; }
};

// Parameters that are the same for all agents, but for those that have been set.
class Params {
public:
  Params(std::vector<std::uint32_t> common, std::uint32_t agents)
      : values_(std::move(common)), own_(values_.size()), agents_(agents) {}

  std::size_t size() const { return values_.size(); }
  const std::uint32_t *of(std::uint32_t agent) {
    for (const std::uint32_t param : differ_)
      values_[param] = own_[param][agent];
    return values_.data();
  }
  void set_each(std::uint32_t param, std::vector<std::uint32_t> values) {
    if (param >= values_.size() || values.size() != agents_)
      throw std::invalid_argument("one value of a parameter that there is, for each agent, is needed");
    if (own_[param].empty())
      differ_.push_back(param);
    own_[param] = std::move(values);
  }
  void set(std::uint32_t param, std::uint32_t agent, std::uint32_t value) {
    if (own_[param].empty())
      set_each(param, std::vector<std::uint32_t>(agents_, values_[param]));
    own_[param][agent] = value;
  }

private:
  std::vector<std::uint32_t> values_;
  std::vector<std::vector<std::uint32_t>> own_; // of each parameter, a value an agent; empty: all have the same
  std::vector<std::uint32_t> differ_;
  std::uint32_t agents_;
};

// The knobs of an agent that follow from the one in force, and the operator's parameters.
class Following {
public:
  explicit Following(const DeviceConfig &config) : event_(config.signals) {
    if (!config.follows.has_value())
      return;
    program_.emplace(*config.follows, config.signals, config.params.size());
    if (program_->fields() > 1 || program_->config().results.size() != config.knob_shift.size())
      throw std::invalid_argument("the knobs that follow are another number");
  }

  explicit operator bool() const { return program_.has_value(); }
  void set(std::uint32_t in_force, const std::uint32_t *params, Knobs knobs) {
    const std::int64_t context = in_force;
    program_->run(event_, params, &context);
    for (std::size_t k = 0; k < knobs.size(); ++k)
      knobs[k] = static_cast<std::uint32_t>(program_->values()[program_->config().results[k]]);
  }

private:
  std::optional<Program> program_;
  std::vector<std::uint32_t> event_; // nothing has happened
};

// A knob in the site's unit.
inline std::uint32_t to_site(std::uint32_t knob, std::uint32_t shift) {
  return std::min(knob, ~std::uint32_t{0} >> shift) << shift;
}

// A multiplier's action, as records keep it.
inline std::int32_t action_of(double after, double before) {
  return static_cast<std::int32_t>(std::lround((after / before - 1.0) * 65536.0));
}

class Contexts {
public:
  Contexts(std::uint32_t bytes, const DeviceConfig &config, std::uint32_t agents)
      : params(config.params, agents), config_(config), following_(config), bytes_(bytes), stride_((bytes + 7) / 8 * 8),
        contexts_(agents * stride_ / 8, 0), then_(stride_ / 8, 0) {
    if (config.initial >= static_cast<std::int64_t>(config.params.size()))
      throw std::invalid_argument("a new agent's knob is no parameter");
  }

  Params params;
  std::uint32_t bytes() const { return bytes_; }
  void reset(std::uint32_t agent) { std::memset(of(agent), 0, stride_); }
  void *of(std::uint32_t agent) { return &contexts_[agent * (stride_ / 8)]; }

  std::uint32_t initial(std::uint32_t agent) { return config_.initial < 0 ? 0 : params.of(agent)[config_.initial]; }
  void first(std::uint32_t agent, Knobs knobs) {
    if (following_)
      following_.set(initial(agent), params.of(agent), knobs);
  }
  // The first word, where contexts keep a knob in force there.
  std::uint32_t in_force(std::uint32_t agent) {
    if (config_.initial < 0)
      return 0;
    std::uint32_t word;
    std::memcpy(&word, of(agent), sizeof word);
    return config_.known(word, params.of(agent));
  }

  // To be called before a decision, for `decision` to see whether there was one.
  void remember(std::uint32_t agent) {
    if (config_.may_be_late)
      std::memcpy(then_.data(), of(agent), stride_);
  }

  // What was decided: the context has changed, `before` was in force, and `knobs` are still the device's.
  Decision decision(std::uint32_t agent, std::uint32_t before, Knobs knobs) {
    for (std::size_t k = 0; k < knobs.size(); ++k)
      knobs[k] = to_site(knobs[k], config_.knob_shift[k]);
    Decision decision;
    decision.before = before;
    decision.late = config_.may_be_late && std::memcmp(then_.data(), of(agent), stride_) == 0;
    if (config_.initial >= 0) {
      decision.action = action_of(config_.knob(in_force(agent)), config_.knob(before));
      if (config_.new_phase >= 0)
        decision.maker = Maker::unknown;
    }
    return decision;
  }

private:
  DeviceConfig config_;
  Following following_;
  std::uint32_t bytes_;
  std::size_t stride_;                  // a multiple of 8
  std::vector<std::uint64_t> contexts_; // one after the other
  std::vector<std::uint64_t> then_;     // of the agent that decides, before it does
};

} // namespace netsim

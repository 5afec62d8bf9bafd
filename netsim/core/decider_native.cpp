#include "decider_native.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace netsim {

namespace {

Readable readable(const NativeConfig &config, std::uint32_t outputs) {
  return {config.signals, static_cast<std::uint32_t>(config.known.size()), config.decides, outputs};
}

constexpr std::array<std::uint32_t, 1> kTriggerGroup{2}; // to keep, or to decide anew

} // namespace

NativeDecider::NativeDecider(NativeConfig config, NetworkWeights weights, std::uint32_t agents)
    : config_(std::move(config)), observation_(static_cast<std::uint32_t>(config_.features.size()) * config_.window),
      action_(config_.action, readable(config_, weights.output.outputs)), knob_(config_.knob, readable(config_, 0)),
      initial_(agents, config_.initial_knob), in_force_(agents),
      decided_(static_cast<std::size_t>(agents) * config_.decides),
      window_(static_cast<std::size_t>(agents) * observation_), results_(config_.decides + 1) {
  const auto require = [](bool holds) {
    if (!holds)
      throw std::invalid_argument("a teacher's tapes give another number of values");
  };
  require(config_.initial.size() == config_.features.size() && action_.results() == config_.decides + 1 &&
          knob_.results() + (config_.device && config_.device->follows ? config_.knobs - 1 : 0) + (config_.saved > 0) ==
              config_.knobs &&
          config_.saved <= observation_ && !(config_.saved > 0 && config_.keeps_knob) &&
          (config_.groups.empty() ||
           std::accumulate(config_.groups.begin(), config_.groups.end(), 0u) == weights.output.outputs));
  for (const TapeConfig &feature : config_.features) {
    features_.emplace_back(feature, readable(config_, 0));
    require(features_.back().results() == 1);
    for (const Kept &kept : feature.kept)
      past_size_ += kept.back;
    then_.resize(std::max(then_.size(), feature.kept.size()));
  }
  results_.resize(std::max<std::size_t>(results_.size(), config_.knobs));
  if (const std::optional<DeviceConfig> &device = config_.device) {
    require(config_.keeps_knob && device->signals == config_.signals && device->knob_shift.size() == config_.knobs);
    params_.emplace(device->params, agents);
    following_.emplace(*device);
  }
  if (const std::optional<StartConfig> &start = config_.start) {
    require(config_.device.has_value() && (start->made >= 0) == (config_.device->new_phase >= 0));
    start_.emplace(start->program, config_.signals, config_.device->params.size());
    require(start_->fields() == 1);
    require(start->in_force >= 0 && start_->has(start->in_force));
    for (const std::int32_t node : {start->made, start->word})
      require(config_.device->new_phase < 0 || (node >= 0 && start_->has(node)));
  }
  if (config_.late.has_value()) {
    require(config_.device.has_value());
    late_.emplace(config_.late->program, config_.signals, config_.device->params.size());
    require(late_->fields() == 2 && config_.late->late >= 0 && late_->has(config_.late->late));
    decided_at_.resize(agents);
    decides_.resize(agents);
  }
  past_.resize(static_cast<std::size_t>(agents) * past_size_);
  for (std::uint32_t agent = 0; agent < agents; ++agent)
    known_.insert(known_.end(), config_.known.begin(), config_.known.end());
  memory_.resize(static_cast<std::size_t>(agents) * weights.memory());
  saved_.resize(static_cast<std::size_t>(agents) * config_.saved);
  asked_.resize(agents);
  sight_.resize(observation_ + config_.saved);
  set_weights(std::move(weights));
  for (std::uint32_t agent = 0; agent < agents; ++agent)
    reset(agent);
}

void NativeDecider::set_known(std::uint32_t number, const std::vector<double> &values) {
  const std::size_t width = config_.known.size();
  if (number >= width || values.size() != in_force_.size())
    throw std::invalid_argument("one value that is known, for each agent, is needed");
  for (std::size_t agent = 0; agent < values.size(); ++agent)
    known_[agent * width + number] = values[agent];
}

void NativeDecider::set_initial(std::vector<std::uint32_t> knobs) {
  if (!config_.keeps_knob || knobs.size() != in_force_.size())
    throw std::invalid_argument("one knob in force, for each agent, is needed");
  initial_ = std::move(knobs);
}

void NativeDecider::set_weights(NetworkWeights weights) {
  std::vector<NetworkWeights> networks;
  networks.push_back(std::move(weights));
  set_networks(std::move(networks), std::vector<std::uint32_t>(in_force_.size()));
}

void NativeDecider::set_networks(std::vector<NetworkWeights> networks, std::vector<std::uint32_t> of) {
  const auto shape = [](const NetworkWeights &weights) {
    std::vector<std::uint32_t> sizes;
    for (const Layer &layer : weights.hidden)
      sizes.insert(sizes.end(), {layer.inputs, layer.outputs});
    for (const Stage &stage : weights.stages)
      sizes.insert(sizes.end(), {static_cast<std::uint32_t>(stage.kind), stage.inputs, stage.outputs, stage.from});
    sizes.insert(sizes.end(), {weights.output.inputs, weights.output.outputs});
    return sizes;
  };
  const auto fits = [&](const NetworkWeights &weights) { return shape(weights) == shape(networks[0]); };
  if (networks.empty() || !std::ranges::all_of(networks, fits) || of.size() != in_force_.size() ||
      !std::ranges::all_of(of, [&](std::uint32_t number) { return number < networks.size(); }))
    throw std::invalid_argument("networks of one shape, and the number of one for each agent, are needed");
  networks_ = std::move(networks);
  network_of_ = std::move(of);
  network_.widen(networks_[0]);
}

void NativeDecider::set_trigger(NetworkWeights trigger) {
  if (config_.saved == 0 || trigger.inputs() != sight_.size() || trigger.output.outputs != 2 || trigger.memory() > 0)
    throw std::invalid_argument("a trigger sees the window and what is saved, and has two outputs");
  trigger_ = std::move(trigger);
  network_.widen(trigger_);
}

void NativeDecider::explore_trigger(double probability, std::uint64_t seed) {
  if (!(probability >= 0.0 && probability <= 1.0))
    throw std::invalid_argument("a probability is 0 to 1");
  exploring_trigger_ = probability;
  trigger_random_ = Pcg32(seed, 1);
}

void NativeDecider::explore(double probability, std::uint64_t seed) {
  if (!(probability >= 0.0 && probability <= 1.0))
    throw std::invalid_argument("a probability is 0 to 1");
  if (config_.groups.empty())
    throw std::invalid_argument("only a choice is explored");
  exploring_ = probability;
  random_ = Pcg32(seed, 0);
}

void NativeDecider::disturb(double most, std::uint64_t seed) {
  if (!(most >= 0.0))
    throw std::invalid_argument("outputs are moved by what is not negative");
  disturbing_ = most;
  random_ = Pcg32(seed, 0);
}

void NativeDecider::draw(std::uint64_t seed) {
  if (config_.groups.empty())
    throw std::invalid_argument("only a choice is drawn");
  drawing_ = seed;
}

Params &NativeDecider::params() {
  if (!params_.has_value())
    throw std::invalid_argument("no integer program of this teacher reads parameters");
  return *params_;
}

void NativeDecider::first(std::uint32_t agent, Knobs knobs) {
  if (following_ && *following_)
    following_->set(initial_[agent], params_->of(agent), knobs);
}

void NativeDecider::reset(std::uint32_t agent) {
  in_force_[agent] = config_.device ? config_.device->first(initial_[agent]) : initial_[agent];
  std::fill_n(&decided_[agent * config_.decides], config_.decides, 0.0);
  float *window = &window_[agent * observation_];
  for (std::uint32_t w = 0; w < config_.window; ++w) {
    for (const double initial : config_.initial)
      *window++ = static_cast<float>(initial);
  }
  auto past = past_.begin() + static_cast<std::ptrdiff_t>(agent * past_size_);
  for (const TapeConfig &feature : config_.features) {
    for (const Kept &kept : feature.kept)
      past = std::fill_n(past, kept.back, kept.initial);
  }
  asked_[agent] = 0;
  if (late_.has_value())
    decides_[agent] = 0;
  std::fill_n(memory_.begin() + static_cast<std::ptrdiff_t>(agent * memory_size()), memory_size(), 0.0f);
}

// The newest features come before those of the decisions before.
void NativeDecider::observe(std::uint32_t agent, Reading &read) {
  const std::size_t n = features_.size();
  float *window = &window_[agent * observation_];
  std::move_backward(window, window + observation_ - n, window + observation_);
  double *past = past_.data() + static_cast<std::size_t>(agent) * past_size_;
  for (Tape &feature : features_) {
    if (feature.kept().empty()) {
      double value;
      feature.run(read, &value);
      *window++ = static_cast<float>(value);
      continue;
    }
    *window++ = look_back(feature, read, past);
    for (const Kept &kept : feature.kept())
      past += kept.back;
  }
}

// A feature of earlier decisions' values too: it reads the oldest that it keeps, and keeps the newest.
float NativeDecider::look_back(Tape &tape, Reading &read, double *past) {
  const double *oldest = past;
  for (std::size_t k = 0; k < tape.kept().size(); ++k) {
    oldest += tape.kept()[k].back;
    then_[k] = oldest[-1];
  }
  read.past = then_.data();
  double value;
  tape.run(read, &value);
  for (const Kept &kept : tape.kept()) {
    std::move_backward(past, past + kept.back - 1, past + kept.back);
    *past = tape.value(kept.value);
    past += kept.back;
  }
  return static_cast<float>(value);
}

// Whether the policy is asked anew; then what it sees is saved.
bool NativeDecider::fires(std::uint32_t agent) {
  const float *window = &window_[agent * observation_];
  float *saved = &saved_[static_cast<std::size_t>(agent) * config_.saved];
  if (asked_[agent] != 0) {
    std::copy_n(saved, config_.saved, std::copy_n(window, observation_, sight_.begin()));
    network_(trigger_, sight_.data(), nullptr);
    explored(trigger_random_, exploring_trigger_, kTriggerGroup);
    if (!(network_.outputs()[1] > network_.outputs()[0]))
      return false;
  }
  asked_[agent] = 1;
  std::copy_n(window, config_.saved, saved);
  return true;
}

// With this probability the outputs are 1 for one of each group, drawn at random, and 0 for the others.
void NativeDecider::explored(Pcg32 &random, double probability, std::span<const std::uint32_t> groups) {
  if (!(probability > 0.0 && random.unit() < probability))
    return;
  std::vector<float> &y = network_.outputs();
  std::fill(y.begin(), y.end(), 0.0f);
  std::size_t first = 0;
  for (const std::uint32_t size : groups) {
    y[first + static_cast<std::size_t>(random.below(size))] = 1.0f;
    first += size;
  }
}

void NativeDecider::disturbed(std::uint32_t outputs) {
  for (std::uint32_t j = 0; disturbing_ > 0.0 && j < outputs; ++j)
    network_.outputs()[j] += static_cast<float>(disturbing_ * (2.0 * random_.unit() - 1.0));
}

// Of each group the first output up to which the probabilities add up to more than the agent's number of that group,
// between 0 and their sum.
void NativeDecider::drawn(std::uint32_t agent) {
  if (!drawing_.has_value())
    return;
  Pcg32 numbers(*drawing_, agent);
  float *y = network_.outputs().data();
  for (const std::uint32_t outputs : config_.groups) {
    const float most = *std::max_element(y, y + outputs);
    double sum = 0.0;
    for (std::uint32_t j = 0; j < outputs; ++j)
      sum += y[j] = exp_negative(y[j] - most);
    double left = sum * numbers.unit();
    std::uint32_t chosen = 0;
    while (chosen + 1 < outputs && left >= y[chosen])
      left -= y[chosen++];
    std::fill_n(y, outputs, 0.0f);
    y[chosen] = 1.0f;
    y += outputs;
  }
}

// Asks the start of an event: whether the agent's phase makes the step.
bool NativeDecider::step(std::uint32_t agent, Words event) {
  const std::int64_t word = in_force_[agent];
  start_->run(event, params_->of(agent), &word);
  return config_.start->made >= 0 && start_->value(config_.start->made) != 0;
}

// Asks of an event whether its request left before the last decision.
bool NativeDecider::late(std::uint32_t agent, Words event) {
  const std::array<std::int64_t, 2> context{decides_[agent], decided_at_[agent]};
  late_->run(event, params_->of(agent), context.data());
  decided_at_[agent] = static_cast<std::uint32_t>(late_->values()[late_->config().state_nodes[1]]);
  decides_[agent] = 1;
  return late_->value(config_.late->late) != 0;
}

Decision NativeDecider::decide(std::uint32_t agent, Words event, Knobs knobs) {
  if (late_.has_value() && late(agent, event)) {
    Decision none;
    none.late = true;
    none.before = in_force_[agent];
    knobs[0] = config_.device->knob(in_force_[agent]);
    if (following_ && *following_)
      following_->set(knobs[0], params_->of(agent), knobs);
    return none;
  }
  double *decided = &decided_[static_cast<std::size_t>(agent) * config_.decides];
  const bool made = start_.has_value() && step(agent, event);
  const std::uint32_t outputs = networks_[0].output.outputs;
  Reading read;
  read.event = event.data();
  read.known = known_.data() + static_cast<std::size_t>(agent) * config_.known.size();
  read.in_force = start_.has_value() ? static_cast<double>(start_->value(config_.start->in_force)) : in_force_[agent];
  read.decided = decided;
  observe(agent, read);
  Decision decision;
  decision.before = in_force_[agent];
  const bool asked = config_.saved == 0 || fires(agent);
  if (asked) {
    network_(networks_[network_of_[agent]], &window_[agent * observation_], &memory_[agent * memory_size()]);
    explored(random_, exploring_, config_.groups);
    disturbed(outputs);
    drawn(agent);
    read.outputs = network_.outputs().data();
    // What is decided is whole, as records keep it: a trajectory can be computed again from its records exactly.
    action_.run(read, results_.data());
    decision.output = static_cast<float>(results_[0]);
    std::copy_n(results_.begin() + 1, config_.decides, decided);
  }
  if (config_.saved > 0)
    knobs[config_.knobs - 1] = asked;
  knob_.run(read, results_.data());
  for (std::size_t k = 0; k < knob_.results(); ++k)
    knobs[k] = static_cast<std::uint32_t>(results_[k]);
  if (!config_.keeps_knob)
    return decision;
  std::uint32_t word = knobs[0];
  if (made) { // no action of the network's
    word = static_cast<std::uint32_t>(start_->value(config_.start->word));
    decision.maker = Maker::phase;
    decided[0] = 0.0;
  } else if (config_.device && config_.device->new_phase >= 0) {
    word |= config_.device->phase(in_force_[agent]);
  }
  decision.action = static_cast<std::int32_t>(decided[0]);
  in_force_[agent] = word;
  if (config_.device)
    knobs[0] = config_.device->knob(word);
  if (following_ && *following_)
    following_->set(knobs[0], params_->of(agent), knobs);
  return decision;
}

} // namespace netsim

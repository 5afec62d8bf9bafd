#include "decider_native.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "activation.hpp"
#include "flow_site.hpp"

namespace netsim {

void Layer::apply(const float *x, float *y) const {
  std::copy(bias.begin(), bias.end(), y);
  accumulate(x, y);
}

void Layer::accumulate(const float *x, float *__restrict y) const {
  const float *__restrict w = columns.data();
  const std::uint32_t n = outputs;
  for (std::uint32_t i = 0; i < inputs; ++i, w += n) {
    const float xi = x[i];
    for (std::uint32_t j = 0; j < n; ++j)
      y[j] += w[j] * xi;
  }
}

NativeDecider::NativeDecider(NativeConfig config, NetworkWeights weights, std::uint32_t flows)
    : config_(std::move(config)), observation_(static_cast<std::uint32_t>(config_.features.size()) * config_.window),
      base_rtt_ns_(flows, config_.base_rtt_ns), rate_q30_(flows), multiplier_(flows),
      window_(static_cast<std::size_t>(flows) * observation_) {
  memory_.resize(static_cast<std::size_t>(flows) * 2 * weights.lstm_units);
  set_weights(std::move(weights));
  for (std::uint32_t f = 0; f < flows; ++f)
    reset(f);
}

void NativeDecider::set_base_rtts(std::vector<std::uint32_t> ns) {
  if (ns.size() != base_rtt_ns_.size() || std::find(ns.begin(), ns.end(), 0U) != ns.end())
    throw std::invalid_argument("a base RTT above zero is needed for each flow");
  base_rtt_ns_ = std::move(ns);
}

void NativeDecider::set_weights(NetworkWeights weights) {
  weights_ = std::move(weights);
  std::size_t widest = std::max<std::size_t>(observation_, weights_.output.outputs);
  for (const Layer &layer : weights_.hidden)
    widest = std::max<std::size_t>(widest, layer.outputs);
  x_.assign(widest, 0.0f);
  y_.assign(widest, 0.0f);
  gates_.assign(4 * static_cast<std::size_t>(weights_.lstm_units), 0.0f);
}

void NativeDecider::reset(std::uint32_t flow) {
  rate_q30_[flow] = config_.rate_initial_q30;
  multiplier_[flow] = 1.0;
  float *window = &window_[flow * observation_];
  for (std::uint32_t w = 0; w < config_.window; ++w) {
    for (const FeatureConfig &f : config_.features)
      *window++ = static_cast<float>(f.initial);
  }
  const std::size_t memory = 2 * weights_.lstm_units;
  std::fill_n(memory_.begin() + static_cast<std::ptrdiff_t>(flow * memory), memory, 0.0f);
}

// The float meanings of decision/features.py, in its order of operations.
double NativeDecider::feature(const FeatureConfig &f, std::uint32_t flow, Words event, double rate) const {
  const auto rtt_inflation = [&] {
    const std::uint32_t rtt = event[FlowSite::response_ns] - event[FlowSite::request_sent_ns];
    return static_cast<double>(std::min(rtt, config_.rtt_max_ns)) / base_rtt_ns_[flow];
  };
  const auto queue_inflation = [&] {
    const double queue_ns = event[FlowSite::queue_bytes] * 8e9 / config_.line_rate_bps;
    return 1.0 + std::min(queue_ns, static_cast<double>(config_.rtt_max_ns)) / base_rtt_ns_[flow];
  };
  const auto ratio = [&](std::uint32_t count) {
    return std::min(count / std::max(static_cast<double>(event[FlowSite::sent_bytes] >> 10), 1.0), 1.0);
  };
  switch (f.kind) {
  case FeatureKind::previous_action:
    return multiplier_[flow];
  case FeatureKind::congestion: {
    const double inflation = f.queue ? queue_inflation() : rtt_inflation();
    const double excess = std::min(std::max(inflation - f.tolerance, 0.0), 65535.0 / 1024.0);
    return f.factor * (f.target - excess * std::sqrt(rate));
  }
  case FeatureKind::rtt_inflation:
    return rtt_inflation();
  case FeatureKind::queue_inflation:
    return queue_inflation();
  case FeatureKind::rate:
    return rate;
  case FeatureKind::cnp_ratio:
    return ratio(event[FlowSite::cnp_count]);
  case FeatureKind::nack_ratio:
    return ratio(event[FlowSite::nack_count]);
  }
  return 0.0;
}

// From the flow's window to the network's raw outputs in y_.
void NativeDecider::evaluate(std::uint32_t flow) {
  const float *input = &window_[flow * observation_];
  for (const Layer &layer : weights_.hidden) {
    layer.apply(input, y_.data());
    for (std::uint32_t j = 0; j < layer.outputs; ++j)
      y_[j] = std::max(y_[j], 0.0f);
    x_.swap(y_);
    input = x_.data();
  }
  if (const std::uint32_t n = weights_.lstm_units; n > 0) {
    float *__restrict hidden = &memory_[flow * 2 * n];
    float *__restrict cell = hidden + n;
    float *__restrict gate = gates_.data();
    weights_.lstm_input.apply(input, gate);
    weights_.lstm_state.accumulate(hidden, gate);
    for (std::uint32_t j = 0; j < 4 * n; ++j)
      gate[j] += weights_.lstm_state.bias[j];
    for (std::uint32_t j = 0; j < 2 * n; ++j)
      gate[j] = logistic_f32(gate[j]);
    for (std::uint32_t j = 2 * n; j < 3 * n; ++j)
      gate[j] = tanh_f32(gate[j]);
    for (std::uint32_t j = 3 * n; j < 4 * n; ++j)
      gate[j] = logistic_f32(gate[j]);
    for (std::uint32_t j = 0; j < n; ++j) {
      cell[j] = gate[n + j] * cell[j] + gate[j] * gate[2 * n + j];
      hidden[j] = gate[3 * n + j] * tanh_f32(cell[j]);
    }
    input = hidden;
  }
  weights_.output.apply(input, y_.data());
}

// The action map; `output` becomes what a record keeps: the output after tanh, of a table the entry's index.
double NativeDecider::multiplier(float &output) const {
  const ActionConfig &action = config_.action;
  if (action.kind == ActionKind::table) {
    const auto begin = y_.begin();
    const auto best = std::max_element(begin, begin + weights_.output.outputs) - begin;
    output = static_cast<float>(best);
    return action.multipliers[static_cast<std::size_t>(best)];
  }
  output = tanh_f32(y_[0]);
  const double x = output;
  if (action.kind == ActionKind::multiplier)
    return action.low + (action.high - action.low) * (x + 1.0) / 2.0;
  return x < 0 ? 1.0 / (1.0 - action.step * x) : 1.0 + action.step * x;
}

Decision NativeDecider::decide(std::uint32_t flow, Words event, Knobs knobs) {
  const std::uint32_t before = rate_q30_[flow];
  const double rate = before * 0x1p-30;
  const std::size_t n = config_.features.size();
  float *window = &window_[flow * observation_];
  std::move_backward(window, window + observation_ - n, window + observation_);
  for (std::size_t i = 0; i < n; ++i) {
    window[i] = static_cast<float>(feature(config_.features[i], flow, event, rate));
  }
  evaluate(flow);
  Decision decision;
  decision.before = before;
  // The multiplier is a whole number of 2^-16 and the rate one of 2^-30, as records keep them: a trajectory can be
  // computed again from its records exactly.
  decision.action = static_cast<std::int32_t>(std::lround((multiplier(decision.output) - 1.0) * 65536.0));
  multiplier_[flow] = 1.0 + decision.action / 65536.0;
  const double wanted = before * multiplier_[flow] + 0.5;
  const double after =
      std::clamp(wanted, static_cast<double>(config_.rate_min_q30), static_cast<double>(config_.rate_max_q30));
  rate_q30_[flow] = static_cast<std::uint32_t>(after);
  knobs[0] = rate_q30_[flow];
  return decision;
}

} // namespace netsim

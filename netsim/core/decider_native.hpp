// A teacher in C++: observation features from raw events, an MLP or LSTM in float32, the action map. No Python.
#pragma once

#include <cstdint>
#include <vector>

#include "decider.hpp"

namespace netsim {

enum class FeatureKind : std::uint8_t {
  previous_action,
  congestion, // factor * (target - max(inflation - tolerance, 0) * sqrt(rate)): RL-CC and PCC-RL
  rtt_inflation,
  queue_inflation,
  rate,
  cnp_ratio,
  nack_ratio
};

struct FeatureConfig {
  FeatureKind kind = FeatureKind::previous_action;
  bool queue = false; // congestion from the queue length instead of the RTT
  double target = 0, tolerance = 0, factor = 1;
  double initial = 0; // before the first decision
};

enum class ActionKind : std::uint8_t { tanh_map, multiplier, table };

struct ActionConfig {
  ActionKind kind = ActionKind::tanh_map;
  double step = 0.2;               // tanh_map
  double low = 0.5, high = 2.0;    // multiplier
  std::vector<double> multipliers; // table
};

// y = W x + b; the weights are kept by columns so that the inner loop runs over outputs and vectorises.
struct Layer {
  std::uint32_t inputs = 0, outputs = 0;
  std::vector<float> columns;
  std::vector<float> bias; // zeros where the layer has none

  void apply(const float *x, float *y) const;
  void accumulate(const float *x, float *y) const;
};

struct NetworkWeights {
  std::vector<Layer> hidden; // ReLU after each
  std::uint32_t lstm_units = 0;
  Layer lstm_input, lstm_state; // torch's gate order: i, f, g, o
  Layer output;
};

struct NativeConfig {
  std::vector<FeatureConfig> features;
  std::uint32_t window = 1;
  std::uint32_t base_rtt_ns = 8192;
  std::uint32_t rtt_max_ns = (1U << 22) - 1;
  double line_rate_bps = 100e9;
  ActionConfig action;
  std::uint32_t rate_min_q30 = 1, rate_max_q30 = 1U << 30, rate_initial_q30 = 1U << 30;
};

class NativeDecider final : public Decider {
public:
  NativeDecider(NativeConfig config, NetworkWeights weights, std::uint32_t flows);

  std::uint32_t initial() const override { return config_.rate_initial_q30; }
  void reset(std::uint32_t flow) override;
  Decision decide(std::uint32_t flow, Words event, Knobs knobs) override;

  void set_weights(NetworkWeights weights);
  void set_base_rtts(std::vector<std::uint32_t> ns); // one a flow
  std::uint32_t lstm_units() const { return weights_.lstm_units; }
  std::uint32_t observation_size() const { return observation_; }
  const float *memory(std::uint32_t flow) const { return &memory_[flow * 2 * weights_.lstm_units]; }
  const float *observation(std::uint32_t flow) const { return &window_[flow * observation_]; }

private:
  double feature(const FeatureConfig &f, std::uint32_t flow, Words event, double rate) const;
  void evaluate(std::uint32_t flow);
  double multiplier(float &output) const;

  NativeConfig config_;
  NetworkWeights weights_;
  std::uint32_t observation_;

  // One entry a flow.
  std::vector<std::uint32_t> base_rtt_ns_;
  std::vector<std::uint32_t> rate_q30_;
  std::vector<double> multiplier_;
  std::vector<float> window_; // newest decision first
  std::vector<float> memory_; // LSTM: hidden, then cell

  std::vector<float> x_, y_, gates_; // scratch
};

} // namespace netsim

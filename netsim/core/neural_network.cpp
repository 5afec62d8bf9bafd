#include "neural_network.hpp"

#include <algorithm>
#include <stdexcept>

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

void Evaluation::widen(const NetworkWeights &weights) {
  std::size_t widest = std::max<std::size_t>(x_.size(), weights.output.outputs);
  for (const Layer &layer : weights.hidden)
    widest = std::max<std::size_t>(widest, layer.outputs);
  x_.resize(widest);
  y_.resize(widest);
  gates_.resize(std::max<std::size_t>(gates_.size(), 4 * static_cast<std::size_t>(weights.lstm_units)));
}

std::vector<float> &Evaluation::operator()(const NetworkWeights &weights, const float *input, float *memory) {
  for (const Layer &layer : weights.hidden) {
    layer.apply(input, y_.data());
    activate(layer.activation, y_.data(), layer.outputs);
    x_.swap(y_);
    input = x_.data();
  }
  if (const std::uint32_t n = weights.lstm_units; n > 0) {
    float *__restrict hidden = memory;
    float *__restrict cell = hidden + n;
    float *__restrict gate = gates_.data();
    weights.lstm_input.apply(input, gate);
    weights.lstm_state.accumulate(hidden, gate);
    for (std::uint32_t j = 0; j < 4 * n; ++j)
      gate[j] += weights.lstm_state.bias[j];
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
  weights.output.apply(input, y_.data());
  activate(weights.output.activation, y_.data(), weights.output.outputs);
  return y_;
}

std::vector<float> outputs_of(const NetworkWeights &weights, const std::vector<float> &inputs,
                              const std::vector<std::int64_t> &starts) {
  const Layer &first = !weights.hidden.empty()  ? weights.hidden.front()
                       : weights.lstm_units > 0 ? weights.lstm_input
                                                : weights.output;
  if (first.inputs == 0 || inputs.size() % first.inputs != 0)
    throw std::invalid_argument("rows are as wide as the first layer");
  const std::size_t rows = inputs.size() / first.inputs, width = weights.output.outputs;
  Evaluation network;
  network.widen(weights);
  std::vector<float> memory(2 * static_cast<std::size_t>(weights.lstm_units)), all;
  all.reserve(rows * width);
  auto start = starts.begin();
  for (std::size_t row = 0; row < rows; ++row) {
    if (start != starts.end() && static_cast<std::size_t>(*start) == row) {
      std::fill(memory.begin(), memory.end(), 0.0f);
      ++start;
    }
    const std::vector<float> &outputs = network(weights, &inputs[row * first.inputs], memory.data());
    all.insert(all.end(), outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(width));
  }
  return all;
}

} // namespace netsim

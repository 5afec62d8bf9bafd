#include "neural_network.hpp"

#include <algorithm>
#include <cmath>
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

std::uint32_t NetworkWeights::inputs() const {
  if (!hidden.empty())
    return hidden.front().inputs;
  return stages.empty() ? output.inputs : stages.front().inputs;
}

std::uint32_t NetworkWeights::memory() const {
  std::uint32_t floats = 0;
  for (const Stage &stage : stages)
    floats += stage.memory();
  return floats;
}

void Evaluation::widen(const NetworkWeights &weights) {
  std::size_t widest = std::max<std::size_t>(x_.size(), weights.output.outputs);
  for (const Layer &layer : weights.hidden)
    widest = std::max<std::size_t>(widest, layer.outputs);
  x_.resize(widest);
  y_.resize(widest);
  stages_.widen(weights.stages, weights.stages.empty() ? 0 : weights.stages.front().inputs);
}

std::vector<float> &Evaluation::operator()(const NetworkWeights &weights, const float *input, float *memory) {
  for (const Layer &layer : weights.hidden) {
    layer.apply(input, y_.data());
    activate(layer.activation, y_.data(), layer.outputs);
    x_.swap(y_);
    input = x_.data();
  }
  if (!weights.stages.empty())
    input = stages_(weights.stages, input, weights.stages.front().inputs, memory);
  weights.output.apply(input, y_.data());
  if (const float limit = weights.output_limit; std::isfinite(limit)) {
    for (std::uint32_t j = 0; j < weights.output.outputs; ++j)
      y_[j] = std::clamp(y_[j], -limit, limit);
  }
  activate(weights.output.activation, y_.data(), weights.output.outputs);
  return y_;
}

std::vector<float> outputs_of(const NetworkWeights &weights, const std::vector<float> &inputs,
                              const std::vector<std::int64_t> &starts) {
  const std::uint32_t size = weights.inputs();
  if (size == 0 || inputs.size() % size != 0)
    throw std::invalid_argument("rows are as wide as the first layer");
  const std::size_t rows = inputs.size() / size, width = weights.output.outputs;
  Evaluation network;
  network.widen(weights);
  std::vector<float> memory(weights.memory()), all;
  all.reserve(rows * width);
  auto start = starts.begin();
  for (std::size_t row = 0; row < rows; ++row) {
    if (start != starts.end() && static_cast<std::size_t>(*start) == row) {
      std::fill(memory.begin(), memory.end(), 0.0f);
      ++start;
    }
    const std::vector<float> &outputs = network(weights, &inputs[row * size], memory.data());
    all.insert(all.end(), outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(width));
  }
  return all;
}

} // namespace netsim

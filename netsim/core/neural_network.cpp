#include "neural_network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace netsim {

namespace {

// Sums `kWide` outputs at once, each in the order of the inputs and in a register of its own.
template <std::size_t kWide>
void sums(const float *w, std::size_t stride, const float *x, std::size_t inputs, const float *start, float *y) {
  std::array<float, kWide> sum;
  std::copy_n(start, kWide, sum.begin());
  for (std::size_t i = 0; i < inputs; ++i, w += stride) {
    for (std::size_t j = 0; j < kWide; ++j)
      sum[j] += w[j] * x[i];
  }
  std::copy_n(sum.begin(), kWide, y);
}

} // namespace

void Layer::apply(const float *x, float *y) const { add(x, bias.data(), y); }
void Layer::accumulate(const float *x, float *y) const { add(x, y, y); }

void Layer::add(const float *x, const float *start, float *y) const {
  const float *w = columns.data();
  std::uint32_t j = 0;
  for (; j + 4 <= outputs; j += 4)
    sums<4>(w + j, outputs, x, inputs, start + j, y + j);
  for (; j < outputs; ++j)
    sums<1>(w + j, outputs, x, inputs, start + j, y + j);
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
  stages_.widen(weights.stages);
}

std::vector<float> &Evaluation::operator()(const NetworkWeights &weights, const float *input, float *memory) {
  for (const Layer &layer : weights.hidden) {
    layer.apply(input, y_.data());
    activate(layer.activation, y_.data(), layer.outputs);
    x_.swap(y_);
    input = x_.data();
  }
  if (!weights.stages.empty())
    input = stages_(weights.stages, input, memory);
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

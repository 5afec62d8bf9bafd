#include "stage.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace netsim {

namespace {

// (x - mean) / sqrt(variance + epsilon), of the variance over all values.
void layer_norm(const Stage &stage, const float *x, float *y) {
  const std::uint32_t n = stage.inputs;
  float sum = 0.0f, squares = 0.0f;
  for (std::uint32_t j = 0; j < n; ++j)
    sum += x[j];
  const float mean = sum / static_cast<float>(n);
  for (std::uint32_t j = 0; j < n; ++j)
    squares += (x[j] - mean) * (x[j] - mean);
  const float deviation = std::sqrt(squares / static_cast<float>(n) + stage.number);
  for (std::uint32_t j = 0; j < n; ++j)
    y[j] = (x[j] - mean) / deviation * stage.input.columns[j] + stage.input.bias[j];
}

} // namespace

std::uint32_t Stage::memory() const {
  if (kind == StageKind::lstm)
    return 2 * outputs;
  return kind == StageKind::gru ? outputs : 0;
}

void check(std::span<const Stage> stages) {
  std::vector<std::uint32_t> widths;
  const auto require = [](bool holds) {
    if (!holds)
      throw std::invalid_argument("the layers of a network do not fit each other");
  };
  for (const Stage &stage : stages) {
    if (widths.empty())
      widths.push_back(stage.inputs);
    require(stage.inputs == widths.back() && stage.outputs > 0);
    const std::uint32_t gates = stage.kind == StageKind::lstm ? 4 : stage.kind == StageKind::gru ? 3 : 1;
    const bool carries = stage.kind == StageKind::add || stage.kind == StageKind::concat;
    require(!carries || stage.from < widths.size());
    if (stage.kind == StageKind::linear || gates > 1)
      require(stage.input.inputs == stage.inputs && stage.input.outputs == gates * stage.outputs);
    else if (stage.kind == StageKind::concat)
      require(stage.outputs == stage.inputs + widths[stage.from]);
    else
      require(stage.outputs == stage.inputs && (!carries || widths[stage.from] == stage.inputs));
    if (gates > 1)
      require(stage.state.inputs == stage.outputs && stage.state.outputs == gates * stage.outputs);
    if (stage.kind == StageKind::layer_norm)
      require(stage.input.columns.size() == stage.inputs && stage.input.bias.size() == stage.inputs);
    widths.push_back(stage.outputs);
  }
}

void Stages::widen(std::span<const Stage> stages) {
  values_.resize(std::max(values_.size(), stages.size() + 1));
  const auto room = [](std::vector<float> &values, std::size_t size) { values.resize(std::max(values.size(), size)); };
  if (!stages.empty())
    room(values_[0], stages.front().inputs);
  for (std::size_t k = 0; k < stages.size(); ++k) {
    room(values_[k + 1], stages[k].outputs);
    room(gates_, stages[k].input.outputs);
    room(products_, stages[k].state.outputs);
  }
}

void Stages::lstm(const Stage &stage, const float *x, float *memory, float *y) {
  const std::uint32_t n = stage.outputs;
  float *__restrict hidden = memory;
  float *__restrict cell = hidden + n;
  float *__restrict gate = gates_.data();
  stage.input.apply(x, gate);
  stage.state.accumulate(hidden, gate);
  for (std::uint32_t j = 0; j < 4 * n; ++j)
    gate[j] += stage.state.bias[j];
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
  std::copy_n(hidden, n, y);
}

void Stages::gru(const Stage &stage, const float *x, float *memory, float *y) {
  const std::uint32_t n = stage.outputs;
  float *__restrict hidden = memory;
  float *__restrict gate = gates_.data();
  float *__restrict product = products_.data();
  stage.input.apply(x, gate);
  stage.state.apply(hidden, product);
  for (std::uint32_t j = 0; j < 2 * n; ++j)
    gate[j] = logistic_f32(gate[j] + product[j]);
  for (std::uint32_t j = 0; j < n; ++j) {
    const float proposed = tanh_f32(gate[2 * n + j] + gate[j] * product[2 * n + j]);
    hidden[j] = (1.0f - gate[n + j]) * proposed + gate[n + j] * hidden[j];
  }
  std::copy_n(hidden, n, y);
}

const float *Stages::operator()(std::span<const Stage> stages, const float *input, float *memory) {
  std::copy_n(input, stages.front().inputs, values_[0].begin());
  for (std::size_t k = 0; k < stages.size(); ++k) {
    const Stage &stage = stages[k];
    const float *x = values_[k].data();
    const float *from = values_[stage.from].data();
    float *y = values_[k + 1].data();
    switch (stage.kind) {
    case StageKind::linear:
      stage.input.apply(x, y);
      break;
    case StageKind::lstm:
      lstm(stage, x, memory, y);
      break;
    case StageKind::gru:
      gru(stage, x, memory, y);
      break;
    case StageKind::layer_norm:
      layer_norm(stage, x, y);
      break;
    case StageKind::clip:
      for (std::uint32_t j = 0; j < stage.inputs; ++j)
        y[j] = std::clamp(x[j], -stage.number, stage.number);
      break;
    case StageKind::activation:
      std::copy_n(x, stage.inputs, y);
      activate(stage.activation, y, stage.inputs);
      break;
    case StageKind::add:
      for (std::uint32_t j = 0; j < stage.inputs; ++j)
        y[j] = x[j] + from[j];
      break;
    case StageKind::concat:
      std::copy_n(from, stage.outputs - stage.inputs, std::copy_n(x, stage.inputs, y));
      break;
    }
    memory += stage.memory();
  }
  return values_[stages.size()].data();
}

} // namespace netsim

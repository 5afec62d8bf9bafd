// A layer behind a network's fully connected ones, in float32 and in a fixed order (decision/policy/layers.py says what
// each is).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "layer.hpp"

namespace netsim {

enum class StageKind : std::uint8_t { linear, lstm, gru, layer_norm, clip, activation, add, concat };

struct Stage {
  StageKind kind = StageKind::activation;
  std::uint32_t inputs = 0, outputs = 0;
  Layer input; // linear, lstm, gru; layer_norm: a factor and an offset for each value
  Layer state; // lstm, gru: the product with what is remembered
  Activation activation = Activation::identity;
  float number = 0.0f;    // epsilon of layer_norm, limit of clip
  std::uint32_t from = 0; // add, concat: the values of this stage; 0 is the input of the first one

  std::uint32_t memory() const; // floats that it remembers: hidden values, then an LSTM's cells
};

// Throws std::invalid_argument where the parts of a stage, or of a chain of stages, do not fit each other.
void check(std::span<const Stage> stages);

// The values of every stage, and room for the gates.
class Stages {
public:
  void widen(std::span<const Stage> stages); // room for these too
  // Of at least one stage. `memory`: of all stages, in their order; it goes on from there. The result stays until the
  // next call.
  const float *operator()(std::span<const Stage> stages, const float *input, float *memory);

private:
  void lstm(const Stage &stage, const float *x, float *memory, float *y);
  void gru(const Stage &stage, const float *x, float *memory, float *y);

  std::vector<std::vector<float>> values_; // of the input, then of each stage
  std::vector<float> gates_, products_;
};

} // namespace netsim

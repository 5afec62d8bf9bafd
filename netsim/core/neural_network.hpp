// A policy's network in float32, each sum in the order of its inputs: the same bits on every processor.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "layer.hpp"
#include "stage.hpp"

namespace netsim {

struct NetworkWeights {
  std::vector<Layer> hidden;
  std::vector<Stage> stages; // behind the hidden layers: an LSTM, or all layers of kind "layers"
  Layer output;
  float output_limit = std::numeric_limits<float>::infinity(); // of an output before its activation

  std::uint32_t inputs() const;
  std::uint32_t memory() const; // floats that the network remembers from one decision to the next
};

// One network's way from an input to its outputs, with room for every layer's.
class Evaluation {
public:
  void widen(const NetworkWeights &weights); // room for these too
  // `memory`: of the stages in their order; it goes on from there. The outputs stay until the next call.
  std::vector<float> &operator()(const NetworkWeights &weights, const float *input, float *memory);
  std::vector<float> &outputs() { return y_; }

private:
  std::vector<float> x_, y_;
  Stages stages_;
};

// Outputs [rows, outputs] of `inputs` [rows, size]; its memory is empty at each of `starts`, which rise from 0.
std::vector<float> outputs_of(const NetworkWeights &weights, const std::vector<float> &inputs,
                              const std::vector<std::int64_t> &starts);

} // namespace netsim

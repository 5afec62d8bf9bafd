// An MLP or LSTM in float32, each sum in the order of its inputs: the same bits on every processor.
#pragma once

#include <cstdint>
#include <vector>

#include "activation.hpp"

namespace netsim {

// y = W x + b; the weights are kept by columns so that the inner loop runs over outputs and vectorises.
struct Layer {
  std::uint32_t inputs = 0, outputs = 0;
  std::vector<float> columns;
  std::vector<float> bias; // zeros where the layer has none
  Activation activation = Activation::identity;

  void apply(const float *x, float *y) const;
  void accumulate(const float *x, float *y) const;
};

struct NetworkWeights {
  std::vector<Layer> hidden;
  std::uint32_t lstm_units = 0;
  Layer lstm_input, lstm_state; // torch's gate order: i, f, g, o
  Layer output;
};

// One network's way from an input to its outputs, with room for every layer's.
class Evaluation {
public:
  void widen(const NetworkWeights &weights); // room for these too
  // `memory`: of an LSTM, hidden, then cell; it goes on from there. The outputs stay until the next call.
  std::vector<float> &operator()(const NetworkWeights &weights, const float *input, float *memory);
  std::vector<float> &outputs() { return y_; }

private:
  std::vector<float> x_, y_, gates_;
};

// Outputs [rows, outputs] of `inputs` [rows, size]; an LSTM's memory is empty at each of `starts`, which rise from 0.
std::vector<float> outputs_of(const NetworkWeights &weights, const std::vector<float> &inputs,
                              const std::vector<std::int64_t> &starts);

} // namespace netsim

// A fully connected layer in float32, each sum in the order of its inputs: the same bits on every processor.
#pragma once

#include <cstdint>
#include <vector>

#include "activation.hpp"

namespace netsim {

// y = W x + b; the weights are kept by columns, so that outputs beside one another are summed up together.
struct Layer {
  std::uint32_t inputs = 0, outputs = 0;
  std::vector<float> columns;
  std::vector<float> bias; // zeros where the layer has none
  Activation activation = Activation::identity;

  void apply(const float *x, float *y) const;
  void accumulate(const float *x, float *y) const;

private:
  void add(const float *x, const float *start, float *y) const; // y = W x + start
};

} // namespace netsim

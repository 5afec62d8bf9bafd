// What follows a network's layers, in float32; tanh and the logistic function within 2e-7 of the exact value.
//
// Written out rather than taken from libm: loops over them vectorise, and their bits do not depend on the C library.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace netsim {

// e^x for x <= 0: x = k ln 2 + r with |r| <= ln 2 / 2, and the Taylor polynomial of degree 7 for e^r (error 5e-9).
inline float exp_negative(float x) {
  x = std::max(x, -80.0f);
  const auto k = static_cast<std::int32_t>(x * 1.44269504f - 0.5f);
  const auto kf = static_cast<float>(k);
  const float r = (x - kf * 0.693359375f) - kf * -2.12194440e-4f; // ln 2 in two parts
  float p = 1.0f / 5040.0f;
  p = p * r + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return p * std::bit_cast<float>((k + 127) << 23);
}

inline float tanh_f32(float x) {
  const float e = exp_negative(-2.0f * std::fabs(x));
  return std::copysign((1.0f - e) / (1.0f + e), x);
}

inline float logistic_f32(float x) {
  const float e = exp_negative(-std::fabs(x));
  const float small = e / (1.0f + e);
  return x < 0.0f ? small : 1.0f - small;
}

// Within 5e-7: 1 - (a1 t + .. + a5 t^5) e^(-x^2) with t = 1 / (1 + p |x|) (Abramowitz and Stegun, 7.1.26).
inline float erf_f32(float x) {
  const float t = 1.0f / (1.0f + 0.3275911f * std::fabs(x));
  float p = 1.061405429f;
  p = p * t - 1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t - 0.284496736f;
  p = p * t + 0.254829592f;
  return std::copysign(1.0f - p * t * exp_negative(-(x * x)), x);
}

inline float gelu_f32(float x) { return x * (0.5f * (1.0f + erf_f32(x * 0.707106781f))); }

inline float gelu_tanh_f32(float x) {
  return x * (0.5f * (1.0f + tanh_f32(0.797884561f * (x + 0.044715f * (x * x * x)))));
}

enum class Activation : std::uint8_t { identity, relu, leaky_relu, elu, tanh, sigmoid, silu, gelu, gelu_tanh, clip };
inline constexpr std::array<std::string_view, 10> ACTIVATIONS = {"identity", "relu", "leaky_relu", "elu",       "tanh",
                                                                 "sigmoid",  "silu", "gelu",       "gelu_tanh", "clip"};

// decision/ir/activation.py says what each is.
inline void activate(Activation activation, float *y, std::uint32_t n) {
  const auto each = [y, n](auto function) {
    for (std::uint32_t j = 0; j < n; ++j)
      y[j] = function(y[j]);
  };
  switch (activation) {
  case Activation::identity:
    return;
  case Activation::relu:
    return each([](float x) { return std::max(x, 0.0f); });
  case Activation::leaky_relu:
    return each([](float x) { return x > 0.0f ? x : 0.01f * x; });
  case Activation::elu:
    return each([](float x) { return x > 0.0f ? x : exp_negative(x) - 1.0f; });
  case Activation::tanh:
    return each(tanh_f32);
  case Activation::sigmoid:
    return each(logistic_f32);
  case Activation::silu:
    return each([](float x) { return x * logistic_f32(x); });
  case Activation::gelu:
    return each(gelu_f32);
  case Activation::gelu_tanh:
    return each(gelu_tanh_f32);
  case Activation::clip:
    return each([](float x) { return std::clamp(x, -1.0f, 1.0f); });
  }
}

} // namespace netsim

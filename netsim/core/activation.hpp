// tanh and the logistic function in float32, within 2e-7 of the exact value.
//
// Written out rather than taken from libm: loops over them vectorise, and their bits do not depend on the C library.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

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

} // namespace netsim

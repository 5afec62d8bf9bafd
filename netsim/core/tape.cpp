#include "tape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace netsim {

namespace {

// What one step gives; `r` reads a register.
template <FloatOp op, class Registers> double value_of(const Step &s, const Reading &read, const Registers &r) {
  if constexpr (op == FloatOp::signal)
    return read.event[s.a];
  else if constexpr (op == FloatOp::elapsed)
    return read.event[s.a] - read.event[s.b]; // in uint32
  else if constexpr (op == FloatOp::known)
    return read.known[s.a];
  else if constexpr (op == FloatOp::in_force)
    return read.in_force;
  else if constexpr (op == FloatOp::decided)
    return read.decided[s.a];
  else if constexpr (op == FloatOp::past)
    return read.past[s.a];
  else if constexpr (op == FloatOp::output)
    return read.outputs[s.a];
  else if constexpr (op == FloatOp::add)
    return r(s.a) + r(s.b);
  else if constexpr (op == FloatOp::sub)
    return r(s.a) - r(s.b);
  else if constexpr (op == FloatOp::mul)
    return r(s.a) * r(s.b);
  else if constexpr (op == FloatOp::div)
    return r(s.a) / r(s.b);
  else if constexpr (op == FloatOp::min)
    return std::min(r(s.a), r(s.b));
  else if constexpr (op == FloatOp::max)
    return std::max(r(s.a), r(s.b));
  else if constexpr (op == FloatOp::sqrt)
    return std::sqrt(r(s.a));
  else if constexpr (op == FloatOp::floor)
    return std::floor(r(s.a));
  else if constexpr (op == FloatOp::round)
    return std::round(r(s.a));
  else if constexpr (op == FloatOp::below)
    return r(s.a) < r(s.b);
  else if constexpr (op == FloatOp::best)
    return static_cast<double>(std::max_element(read.outputs, read.outputs + read.output_count) - read.outputs);
  else if constexpr (op == FloatOp::at)
    return r(s.a + static_cast<std::uint32_t>(r(s.b)));
  else
    return r(s.a) != 0 ? r(s.b) : r(s.c); // select
}

using enum FloatOp;

void require(bool holds) {
  if (!holds)
    throw std::invalid_argument("a tape reads what is not there");
}

} // namespace

template <std::size_t... Op> auto Tape::functions(std::index_sequence<Op...>) {
  return std::array{&value_of<static_cast<FloatOp>(Op), Registers>...};
}

Tape::Tape(TapeConfig config, const Readable &there) : config_(std::move(config)), registers_(config_.constants) {
  constexpr auto kOperators = std::make_index_sequence<static_cast<std::size_t>(at) + 1>();
  const auto constants = static_cast<std::uint32_t>(config_.constants.size());
  for (const Step &s : config_.steps) {
    const auto now = static_cast<std::uint32_t>(registers_.size());
    switch (s.op) {
    case signal:
      require(s.a < there.signals);
      break;
    case elapsed:
      require(s.a < there.signals && s.b < there.signals);
      break;
    case known:
      require(s.a < there.known);
      break;
    case decided:
      require(s.a < there.decided);
      break;
    case past:
      require(s.a < config_.kept.size());
      break;
    case output:
      require(s.a < there.outputs);
      break;
    case in_force:
      break;
    case best:
      require(there.outputs > 0);
      break;
    case at: // `b` comes from `best`, so it is at most the number of outputs
      require(s.a + there.outputs <= constants && s.b < now && s.b >= constants &&
              config_.steps[s.b - constants].op == best);
      break;
    default:
      require(s.op <= at && s.a < now && s.b < now && s.c < now);
    }
    registers_.push_back(0);
    steps_.push_back(Resolved{functions(kOperators)[static_cast<std::size_t>(s.op)], s});
  }
  for (const std::uint32_t result : config_.results)
    require(result < registers_.size());
  for (const Kept &kept : config_.kept)
    require(kept.value < registers_.size() && kept.back >= 1);
}

void Tape::run(const Reading &read, double *results) {
  const Registers r{registers_.data()};
  double *next = registers_.data() + config_.constants.size();
  for (const Resolved &each : steps_)
    *next++ = each.value(each.step, read, r);
  for (const std::uint32_t result : config_.results)
    *results++ = registers_[result];
}

} // namespace netsim

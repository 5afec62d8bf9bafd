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
    return static_cast<double>(std::max_element(read.outputs + s.a, read.outputs + s.a + s.b) - (read.outputs + s.a));
  else if constexpr (op == FloatOp::at)
    return r(s.a + static_cast<std::uint32_t>(r(s.b)));
  else
    return r(s.a) != 0 ? r(s.b) : r(s.c); // select
}

using enum FloatOp;

// --- what a simulation spends its time on: these very steps, compiled as they stand ---------------------------------

template <std::size_t N, std::size_t R> struct Shape {
  std::uint32_t constants = 0;
  std::array<Step, N> steps{};
  std::array<std::uint32_t, R> results{};
};

using Run = void (*)(const double *, const Reading &, double *);

template <const auto &kShape> void straight(const double *constants, const Reading &read, double *results) {
  std::array<double, kShape.steps.size()> value;
  const auto r = [&](std::uint32_t number) {
    return number < kShape.constants ? constants[number] : value[number - kShape.constants];
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((value[I] = value_of<kShape.steps[I].op>(kShape.steps[I], read, r)), ...);
  }(std::make_index_sequence<kShape.steps.size()>());
  for (std::size_t k = 0; k < kShape.results.size(); ++k)
    results[k] = r(kShape.results[k]);
}

// c1 + c0 * what was decided: a multiplier applied before
constexpr Shape<3, 1> kMultiplier{2, {{{decided, 0}, {mul, 2, 0}, {add, 1, 3}}}, {4}};

// c5 * (c0 - min(max(elapsed / known - c1, c2), c3) * sqrt(c4 * in force)): RL-CC's and PCC-RL's congestion
constexpr Shape<12, 1> kCongestion{6,
                                   {{{elapsed, 1, 0},
                                     {known, 0},
                                     {div, 6, 7},
                                     {sub, 8, 1},
                                     {max, 9, 2},
                                     {min, 10, 3},
                                     {in_force},
                                     {mul, 12, 4},
                                     {sqrt, 13},
                                     {mul, 11, 14},
                                     {sub, 0, 15},
                                     {mul, 5, 16}}},
                                   {17}};

// An output below 0 divides by 1 - c0 x, another multiplies by 1 + c0 x; as a whole number: RL-CC's action map
constexpr Shape<12, 2> kTanhMap{8,
                                {{{output, 0},
                                  {min, 8, 1},
                                  {mul, 0, 9},
                                  {sub, 3, 10},
                                  {div, 2, 11},
                                  {mul, 0, 8},
                                  {add, 4, 13},
                                  {below, 8, 5},
                                  {select, 15, 12, 14},
                                  {sub, 16, 6},
                                  {mul, 17, 7},
                                  {round, 18}}},
                                {8, 19}};

// min(max(in force * (c1 + c0 * what is decided) + c2, c3), c4): a knob in force times a multiplier
constexpr Shape<8, 1> kScaled{
    5,
    {{{decided, 0}, {mul, 5, 0}, {in_force}, {add, 1, 6}, {mul, 7, 8}, {add, 9, 2}, {max, 10, 3}, {min, 11, 4}}},
    {12}};

template <const auto &kShape> Run fits(const TapeConfig &t) {
  const bool same = t.constants.size() == kShape.constants && std::ranges::equal(t.steps, kShape.steps) &&
                    std::ranges::equal(t.results, kShape.results) && t.kept.empty();
  return same ? &straight<kShape> : nullptr;
}

Run straight_of(const TapeConfig &t) {
  for (const Run run : {fits<kMultiplier>(t), fits<kCongestion>(t), fits<kTanhMap>(t), fits<kScaled>(t)}) {
    if (run != nullptr)
      return run;
  }
  return nullptr;
}

void require(bool holds) {
  if (!holds)
    throw std::invalid_argument("a tape reads what is not there");
}

} // namespace

bool is_compiled(const TapeConfig &tape) { return straight_of(tape) != nullptr; }

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
      require(s.b > 0 && s.b <= there.outputs && s.a <= there.outputs - s.b);
      break;
    case at: // `b` comes from `best`, so it is less than the number of outputs that it looks at
      require(s.a < constants && s.b < now && s.b >= constants && config_.steps[s.b - constants].op == best &&
              config_.steps[s.b - constants].b <= constants - s.a);
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
  straight_ = straight_of(config_);
}

void Tape::interpret(const Reading &read, double *results) {
  const Registers r{registers_.data()};
  double *next = registers_.data() + config_.constants.size();
  for (const Resolved &each : steps_)
    *next++ = each.value(each.step, read, r);
  for (const std::uint32_t result : config_.results)
    *results++ = registers_[result];
}

} // namespace netsim

// Expressions over floats as a flat list of steps (decision/ir/tape.py): what a teacher observes, and what its outputs
// decide. A step is one float64 operation; constants stand in the first registers, step i's value in the next ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace netsim {

enum class FloatOp : std::uint8_t { // the numbers of decision.ir.tape.FloatOp
  signal,
  elapsed, // signal a - signal b, modulo 2^32
  known,
  in_force,
  decided,
  past,
  output,
  best, // which of b outputs from a on is greatest, the first of equals
  add,
  sub,
  mul,
  div,
  min,
  max,
  sqrt,
  floor,
  round, // halves away from zero
  below, // a < b: 1 or 0
  select,
  at // the constant in register a + (what register b holds)
};

struct Step {
  FloatOp op = FloatOp::signal;
  std::uint32_t a = 0, b = 0, c = 0;
  constexpr bool operator==(const Step &) const = default;
};

// A register whose value `back` decisions ago is read; `initial` before there were so many.
struct Kept {
  std::uint32_t value = 0, back = 1;
  double initial = 0;
};

struct TapeConfig {
  std::vector<double> constants;
  std::vector<Step> steps;
  std::vector<std::uint32_t> results; // registers
  std::vector<Kept> kept;
};

// What there is to read, and how much of it.
struct Reading {
  const std::uint32_t *event = nullptr;
  const double *known = nullptr;
  double in_force = 0;
  const double *decided = nullptr;
  const double *past = nullptr;
  const float *outputs = nullptr;
};
struct Readable {
  std::uint32_t signals = 0, known = 0, decided = 0, outputs = 0;
};

// Whether a tape's steps are among those that are compiled as they stand.
bool is_compiled(const TapeConfig &tape);

class Tape {
public:
  // Throws std::invalid_argument where a step reads what is not there.
  Tape(TapeConfig config, const Readable &there);

  void run(const Reading &read, double *results) {
    if (straight_ != nullptr)
      straight_(config_.constants.data(), read, results);
    else
      interpret(read, results);
  }
  std::size_t results() const { return config_.results.size(); }
  const std::vector<Kept> &kept() const { return config_.kept; }
  double value(std::uint32_t number) const { return registers_[number]; } // of a register, in the last run

private:
  struct Registers {
    const double *first;
    double operator()(std::size_t number) const { return first[number]; }
  };
  struct Resolved { // a step, and the function of its operator
    double (*value)(const Step &, const Reading &, const Registers &) = nullptr;
    Step step{};
  };
  template <std::size_t... Op> static auto functions(std::index_sequence<Op...>);

  void interpret(const Reading &read, double *results);

  TapeConfig config_;
  void (*straight_)(const double *constants, const Reading &read, double *results) = nullptr;
  std::vector<Resolved> steps_;
  std::vector<double> registers_;
};

} // namespace netsim

// One engine behind the seam that the network simulator calls (spec/include/rlcc_decider.h).
#pragma once

#include <memory>
#include <string>

#include "interpreter.hpp"
#include "rlcc_decider.h"

namespace rlcc {

// The program's blocks are the flow's context, the event and the parameters.
class Decider {
public:
  explicit Decider(std::shared_ptr<const Program> program)
      : program_(std::move(program)), engine_(*program_),
        seam_{RLCC_DECIDER_VERSION, engine_.blocks()[0].region.size(), this, &decide, &fault} {}
  Decider(const Decider &) = delete;
  Decider &operator=(const Decider &) = delete;

  const rlcc_decider *seam() const { return &seam_; }

private:
  static u64 decide(void *self, void *context, const void *event, const void *params, u32 *rate_q20);
  static const char *fault(void *self) { return static_cast<Decider *>(self)->fault_.c_str(); }

  std::shared_ptr<const Program> program_;
  Interpreter engine_;
  rlcc_decider seam_;
  std::string fault_;
};

} // namespace rlcc

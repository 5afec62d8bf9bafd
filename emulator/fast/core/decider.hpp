// One engine behind the seam that the network simulator calls (decision/include/rlcc_decider.h).
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "machine.hpp"
#include "rlcc_decider.h"

namespace rlcc {

// The program's blocks are the flow's context, the event and the parameters. A context at another address than the call
// before is another flow's, which no data cache holds.
class Decider {
public:
  explicit Decider(std::shared_ptr<const Program> program) // on one-cycle memories
      : program_(std::move(program)), engine_(std::in_place_type<Interpreter>, *program_) {}
  Decider(std::shared_ptr<const Program> program, const Settings &settings)
      : program_(std::move(program)), engine_(std::in_place_type<Machine>, *program_, settings) {}
  Decider(const Decider &) = delete;
  Decider &operator=(const Decider &) = delete;

  const rlcc_decider *seam() const { return &seam_; }

private:
  static u64 decide(void *self, void *context, const void *event, const void *params, u32 *rate_q20);
  static const char *fault(void *self) { return static_cast<Decider *>(self)->fault_.c_str(); }

  std::shared_ptr<const Program> program_;
  std::variant<Interpreter, Machine> engine_;
  const void *last_context_ = nullptr;
  std::string fault_;
  rlcc_decider seam_{RLCC_DECIDER_VERSION, program_->image().layout.blocks[0].region.size(), this, &decide, &fault};
};

} // namespace rlcc

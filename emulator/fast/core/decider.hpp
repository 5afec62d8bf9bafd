// One engine behind the seam that the network simulator calls (decision/include/rlcc_decider.h).
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "machine.hpp"
#include "rlcc_decider.h"

namespace rlcc {

// The program's blocks are those of context, event, params and action that the interface has, known by their `groups`.
// A context at another address than the call before is another agent's, which no data cache holds.
enum class Group { context, event, params, action };

class Decider {
public:
  Decider(std::shared_ptr<const Program> program, std::vector<Group> groups) // on one-cycle memories
      : program_(std::move(program)), groups_(std::move(groups)), engine_(std::in_place_type<Interpreter>, *program_) {}
  Decider(std::shared_ptr<const Program> program, std::vector<Group> groups, const Settings &settings)
      : program_(std::move(program)), groups_(std::move(groups)),
        engine_(std::in_place_type<Machine>, *program_, settings) {}
  Decider(const Decider &) = delete;
  Decider &operator=(const Decider &) = delete;

  const rlcc_decider *seam() const { return &seam_; }

private:
  static u64 decide(void *self, void *context, const void *event, const void *params, u32 *knobs);
  u32 context_bytes() const;
  static const char *fault(void *self) { return static_cast<Decider *>(self)->fault_.c_str(); }

  std::shared_ptr<const Program> program_;
  std::vector<Group> groups_; // of the program's blocks
  std::variant<Interpreter, Machine> engine_;
  const void *last_context_ = nullptr;
  std::string fault_;
  rlcc_decider seam_{RLCC_DECIDER_VERSION, context_bytes(), this, &decide, &fault};
};

} // namespace rlcc

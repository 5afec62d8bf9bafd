#include "decider.hpp"

namespace rlcc {

namespace {

Outcome decide_on(Interpreter &engine, bool) { return engine.call(); }

Outcome decide_on(Machine &engine, bool another_flow) {
  if (another_flow)
    engine.forget_writable();
  Outcome outcome = engine.call();
  if (outcome.fault.kind != Fault::none)
    engine.restart();
  return outcome;
}

} // namespace

u32 Decider::context_bytes() const {
  for (std::size_t b = 0; b < groups_.size(); ++b)
    if (groups_[b] == Group::context)
      return program_->image().layout.blocks[b].region.size();
  return 0;
}

u64 Decider::decide(void *self, void *context, const void *event, const void *params, u32 *knobs) {
  auto &decider = *static_cast<Decider *>(self);
  const bool another_flow = context != decider.last_context_;
  decider.last_context_ = context;
  return std::visit(
      [&](auto &engine) -> u64 {
        const std::vector<Block> &blocks = engine.blocks();
        const void *const sources[] = {context, event, params};
        for (std::size_t b = 0; b < blocks.size(); ++b)
          if (decider.groups_[b] != Group::action)
            std::memcpy(engine.block(b), sources[std::size_t(decider.groups_[b])], blocks[b].region.size());
        const Outcome outcome = decide_on(engine, another_flow);
        if (outcome.fault.kind != Fault::none) {
          decider.fault_ = sentence(outcome.fault, engine.program());
          return 0;
        }
        knobs[0] = outcome.returned; // where there are several, the action holds them
        for (std::size_t b = 0; b < blocks.size(); ++b)
          if (blocks[b].writable)
            std::memcpy(decider.groups_[b] == Group::context ? context : knobs, engine.block(b),
                        blocks[b].region.size());
        return cycles_in(outcome.cost);
      },
      decider.engine_);
}

} // namespace rlcc

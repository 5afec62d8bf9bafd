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

u64 Decider::decide(void *self, void *context, const void *event, const void *params, u32 *rate_q20) {
  auto &decider = *static_cast<Decider *>(self);
  const bool another_flow = context != decider.last_context_;
  decider.last_context_ = context;
  return std::visit(
      [&](auto &engine) -> u64 {
        const std::vector<Block> &blocks = engine.blocks();
        std::memcpy(engine.block(0), context, blocks[0].region.size());
        std::memcpy(engine.block(1), event, blocks[1].region.size());
        std::memcpy(engine.block(2), params, blocks[2].region.size());
        const Outcome outcome = decide_on(engine, another_flow);
        if (outcome.fault.kind != Fault::none) {
          decider.fault_ = sentence(outcome.fault, engine.program());
          return 0;
        }
        std::memcpy(context, engine.block(0), blocks[0].region.size());
        *rate_q20 = outcome.returned;
        return cycles_in(outcome.cost);
      },
      decider.engine_);
}

} // namespace rlcc

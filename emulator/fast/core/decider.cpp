#include "decider.hpp"

namespace rlcc {

u64 Decider::decide(void *self, void *context, const void *event, const void *params, u32 *rate_q20) {
  auto &decider = *static_cast<Decider *>(self);
  Interpreter &engine = decider.engine_;
  const std::vector<Block> &blocks = engine.blocks();
  std::memcpy(engine.block(0), context, blocks[0].region.size());
  std::memcpy(engine.block(1), event, blocks[1].region.size());
  std::memcpy(engine.block(2), params, blocks[2].region.size());
  const Outcome outcome = engine.call();
  if (outcome.fault.kind != Fault::none) {
    decider.fault_ = sentence(outcome.fault, engine.program());
    return 0;
  }
  std::memcpy(context, engine.block(0), blocks[0].region.size());
  *rate_q20 = outcome.returned;
  return cycles_in(outcome.cost);
}

} // namespace rlcc

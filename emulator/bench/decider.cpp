// The core in the loop: one Verilated core as an rlcc_decider (decision/include/rlcc_decider.h).
//
// The job's blocks are context, event and params, in this order. Every flow's context is brought to the same place;
// when it is another flow's than before, the data cache no longer holds it.
#include <cstdio>

#include RLCC_ENGINE
#include "rlcc_decider.h"

namespace {

struct Decider {
  Job job;
  std::unique_ptr<Engine> engine;
  const void *last_context = nullptr;
  std::string fault;
  rlcc_decider face{};
};

const char *text_of(const std::string &kind) {
  if (kind == "trap")
    return "the core trapped";
  if (kind == "timeout")
    return "no return within the cycle limit";
  if (kind == "store-const")
    return "store into a const structure";
  if (kind == "store")
    return "store out of bounds";
  if (kind == "load")
    return "load out of bounds";
  if (kind == "execute")
    return "jump out of the code";
  return "access outside the memory";
}

uint64_t decide(void *self, void *context, const void *event, const void *params, uint32_t *rate_q20) {
  Decider &decider = *static_cast<Decider *>(self);
  Engine &engine = *decider.engine;
  const std::vector<Block> &blocks = decider.job.blocks;
  try {
    if (context != decider.last_context)
      engine.forget_writable();
    decider.last_context = context;
    std::memcpy(engine.block(0), context, blocks[0].size());
    std::memcpy(engine.block(1), event, blocks[1].size());
    std::memcpy(engine.block(2), params, blocks[2].size());
    const Called called = engine.call();
    std::memcpy(context, engine.block(0), blocks[0].size());
    *rate_q20 = called.result;
    return called.cycles;
  } catch (const Fault &fault) {
    char text[128];
    std::snprintf(text, sizeof text, "%s, address 0x%x, at 0x%x", text_of(fault.kind), fault.address, fault.pc);
    decider.fault = text;
    engine.restart();
    return 0;
  }
}

const char *fault_of(void *self) { return static_cast<Decider *>(self)->fault.c_str(); }

thread_local std::string wrong;

} // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

// A decider for a job, or NULL (then rlcc_core_error says why).
EXPORTED rlcc_decider *rlcc_core_open(const char *job) {
  try {
    auto decider = std::make_unique<Decider>();
    decider->job = read_job(job);
    if (decider->job.blocks.size() != 3)
      throw std::runtime_error("a decider has the blocks context, event and params");
    decider->engine = std::make_unique<Engine>(decider->job);
    decider->face = {RLCC_DECIDER_VERSION, decider->job.blocks[0].size(), decider.get(), decide, fault_of};
    return &decider.release()->face;
  } catch (const std::exception &error) {
    wrong = error.what();
    return nullptr;
  }
}

EXPORTED const char *rlcc_core_error(void) { return wrong.c_str(); }

EXPORTED void rlcc_core_close(rlcc_decider *face) { delete static_cast<Decider *>(face->self); }

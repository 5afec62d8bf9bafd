// The core in the loop: one Verilated core as an rlcc_decider (decision/include/rlcc_decider.h).
//
// The job's blocks are those of context, event, params and action that the interface has. Every agent's context is
// brought to the same place; when it is another agent's than before, the data cache no longer holds it.
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

// What a block is filled with; nothing for the action.
const void *source(const std::string &name, const void *context, const void *event, const void *params) {
  return name == "context" ? context : name == "event" ? event : name == "params" ? params : nullptr;
}

uint64_t decide(void *self, void *context, const void *event, const void *params, uint32_t *knobs) {
  Decider &decider = *static_cast<Decider *>(self);
  Engine &engine = *decider.engine;
  const std::vector<Block> &blocks = decider.job.blocks;
  try {
    if (context != decider.last_context)
      engine.forget_writable();
    decider.last_context = context;
    for (size_t i = 0; i < blocks.size(); ++i)
      if (const void *from = source(blocks[i].name, context, event, params))
        std::memcpy(engine.block(i), from, blocks[i].size());
    const Called called = engine.call();
    knobs[0] = called.result; // where there are several, the action holds them
    for (size_t i = 0; i < blocks.size(); ++i)
      if (blocks[i].writable)
        std::memcpy(blocks[i].name == "context" ? context : knobs, engine.block(i), blocks[i].size());
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
    uint32_t context_bytes = 0;
    for (const Block &block : decider->job.blocks)
      context_bytes += block.name == "context" ? block.size() : 0;
    decider->engine = std::make_unique<Engine>(decider->job);
    decider->face = {RLCC_DECIDER_VERSION, context_bytes, decider.get(), decide, fault_of};
    return &decider.release()->face;
  } catch (const std::exception &error) {
    wrong = error.what();
    return nullptr;
  }
}

EXPORTED const char *rlcc_core_error(void) { return wrong.c_str(); }

EXPORTED void rlcc_core_close(rlcc_decider *face) { delete static_cast<Decider *>(face->self); }

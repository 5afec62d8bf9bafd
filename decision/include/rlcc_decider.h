/* What decides on behalf of an engine, and how long that takes there: the plain-C seam between the emulated cores,
 * which implement it (emulator/), and the network simulator, which calls it (netsim/). Neither includes a header of the
 * other.
 */
#ifndef RLCC_DECIDER_H
#define RLCC_DECIDER_H

#include <stdint.h>

#define RLCC_DECIDER_VERSION 1u

/* One engine's decision. A decider is used by one thread at a time. */
typedef struct rlcc_decider {
  uint32_t version;       /* RLCC_DECIDER_VERSION */
  uint32_t context_bytes; /* of an agent's context, all zero for a new agent; 0 where it has none */
  void *self;

  /* Decides once: changes `context` in place, writes the interface's knobs, a word each, to `knobs` and returns the
   * cycles that the engine needed, or 0 when the code left its bounds (then `fault` says how). `event` and `params` are
   * the structures of the interface (decision/interface.py); one without a field is not read. */
  uint64_t (*decide)(void *self, void *context, const void *event, const void *params, uint32_t *knobs);

  /* What went wrong, as a sentence; never NULL. */
  const char *(*fault)(void *self);
} rlcc_decider;

#endif

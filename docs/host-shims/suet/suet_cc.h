/* SUET's congestion-control slot, decided by rlcc_host.h: put this file and suet_cc.c in place of theirs.
 *
 * Mirrors a boundary, and none of its code: five calls and the fields that callers read, as of
 * miharulidze/suet-fork 0bfc490fc6ba, suet/src/suet_cc.h. Units are packets there and bytes in rlcc_host.h. The
 * boundary has no time: the shim reads a clock at each call. It allocates nothing.
 */
#ifndef RLCC_SUET_CC_H
#define RLCC_SUET_CC_H

#include <stdbool.h>
#include <stdint.h>

#include "rlcc_host.h"

/* Packets of a context whose send time is kept. An older one is not timed. */
#define RLCC_SUET_TIMES 256U

/* Payload that a packet counts as. NSCC has a parameter for it; define it for a learnt policy. */
#ifndef RLCC_SUET_PACKET_BYTES
#define RLCC_SUET_PACKET_BYTES (cc->host.params.mtu_bytes)
#endif

#ifndef RLCC_SUET_MODE
#define RLCC_SUET_MODE RLCC_HOST_ENFORCE
#endif

struct suet_cc {
  uint32_t cwnd;     /* packets that may be in flight; at least 1 */
  uint32_t max_cwnd; /* packets; cwnd where the mode does not enforce */
  uint32_t in_flight;
  uint64_t ecn_events;
  uint64_t trim_events;
  bool ecn_enabled; /* not used: the policy decides on marks and trims in any case */

  rlcc_host host;
  uint64_t sent_ns[RLCC_SUET_TIMES];
  uint32_t first; /* number of the oldest tracked packet */
  uint32_t next;  /* number of the next one */
  uint32_t marked;
};

void suet_cc_init(struct suet_cc *cc, uint32_t cwnd);
bool suet_cc_can_send(const struct suet_cc *cc);
void suet_cc_track(struct suet_cc *cc);
void suet_cc_ack(struct suet_cc *cc, uint32_t count);
void suet_cc_congestion(struct suet_cc *cc, bool trimmed);

/* ns, never back: the host's clock, or that of a simulation. Defined in suet_cc.c, unless RLCC_SUET_CLOCK is. */
uint64_t rlcc_suet_now_ns(void);

#endif

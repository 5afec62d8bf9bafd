/* marking.h - the marking agent of one switch: who calls whom.
 *
 * Every period, marking_period() asks the policy once a port and traffic class and hands what it decides to the
 * forwarding chip. What the switch's SDK offers stands behind the two functions that the platform provides.
 */
#ifndef MARKING_H
#define MARKING_H

#include "rlcc_policy.h"

#ifndef MARKING_PORTS
#define MARKING_PORTS 48U
#endif
#ifndef MARKING_CLASSES
#define MARKING_CLASSES 1U /* lossless classes of a port that carry RDMA */
#endif
#ifndef MARKING_IDLE_AFTER
#define MARKING_IDLE_AFTER 0U /* periods in a row with no more than Kmin, then a queue is not asked; 0: always is */
#endif

/* Of one queue, counted since power-on; a counter may be shorter than 64 bits as long as it wraps like one. */
typedef struct {
  uint64_t sent_bytes;   /* on the wire */
  uint64_t marked_bytes; /* of these, in packets that this queue marked */
  uint32_t queue_bytes;  /* now */
} marking_counters;

typedef struct {
  rlcc_queue context;
  marking_counters last;
  rlcc_action in_force;
  uint32_t busy; /* periods for which the queue is still asked unless it exceeds the Kmin in force anew */
} marking_queue;

/* All queues of the switch. Zeroed: nothing was decided yet. */
typedef struct {
  marking_queue queue[MARKING_PORTS][MARKING_CLASSES];
  rlcc_params params[MARKING_PORTS]; /* what a port can send in a period: its speed times the period */
  uint32_t asked;                    /* decisions so far, wraps */
} marking_switch;

/* From the platform. */
void marking_read(uint32_t port, uint32_t klass, marking_counters *now);
void marking_write(uint32_t port, uint32_t klass, const rlcc_action *thresholds);

/* Begin: gigabits a second of each port, and the period in microseconds. */
void marking_begin(marking_switch *self, const uint32_t gbps[MARKING_PORTS], uint32_t period_us);

/* One period: every queue in turn, but idle ones. Returns how many were given other thresholds than they had. */
uint32_t marking_period(marking_switch *self);

#endif

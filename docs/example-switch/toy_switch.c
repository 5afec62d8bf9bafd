/* toy_switch.c - a platform for marking.c: one port of 25 Gb/s whose queue fills and drains, all others idle.
 *
 * Replace marking_read() and marking_write() by your switch's SDK.
 */
#include <inttypes.h>
#include <stdio.h>

#include "marking.h"

#define PERIOD_US 50U
#define GBPS 25U
#define BYTES_PER_PERIOD (GBPS * PERIOD_US * 125U)

static marking_counters counters; /* of port 0 */
static uint32_t period;

void marking_read(uint32_t port, uint32_t klass, marking_counters *now) {
  static const marking_counters idle;
  (void)klass;
  *now = port == 0 ? counters : idle;
}

void marking_write(uint32_t port, uint32_t klass, const rlcc_action *thresholds) {
  (void)klass;
  if (port == 0)
    printf("period %2" PRIu32 "  queue %6" PRIu32 " B  -> Kmin %7" PRIu32 " B, Kmax %7" PRIu32 " B, Pmax %3.0f %%\n",
           period, counters.queue_bytes, thresholds->kmin_bytes, thresholds->kmax_bytes, thresholds->pmax_q16 / 655.36);
}

int main(void) {
  static marking_switch all;
  uint32_t gbps[MARKING_PORTS];
  for (uint32_t port = 0; port < MARKING_PORTS; ++port)
    gbps[port] = GBPS;
  marking_begin(&all, gbps, PERIOD_US);
  for (period = 1; period <= 40; ++period) {
    const int busy = period > 5 && period <= 25;
    counters.queue_bytes = busy ? counters.queue_bytes + 20000U : counters.queue_bytes / 2U;
    counters.sent_bytes += counters.queue_bytes > BYTES_PER_PERIOD ? BYTES_PER_PERIOD : counters.queue_bytes;
    counters.marked_bytes += busy ? counters.queue_bytes / 8U : 0U;
    marking_period(&all);
  }
  printf("%" PRIu32 " decisions\n", all.asked);
  return 0;
}

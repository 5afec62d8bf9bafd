/* Calls the five functions as lines of stdin say; prints the window in packets and what is in flight after each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "suet_cc.h"

static uint64_t now;

uint64_t rlcc_suet_now_ns(void) { return now; }

int main(int argc, char **argv) {
  static struct suet_cc cc;
  char call;
  uint32_t count;

  suet_cc_init(&cc, (argc == 2) ? (uint32_t)strtoul(argv[1], NULL, 10) : 0U);
  while (scanf(" %c %" SCNu64 " %" SCNu32, &call, &now, &count) == 3) {
    switch (call) {
    case 't':
      suet_cc_track(&cc);
      break;
    case 'a':
      suet_cc_ack(&cc, count);
      break;
    default:
      suet_cc_congestion(&cc, call == 'x');
      break;
    }
    (void)printf("%" PRIu32 " %" PRIu32 " %d %" PRIu32 "\n", cc.cwnd, cc.in_flight, suet_cc_can_send(&cc) ? 1 : 0,
                 cc.host.in_flight_bytes);
  }
  (void)printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", cc.ecn_events, cc.trim_events,
               cc.host.counters.over_acknowledged);
  return 0;
}

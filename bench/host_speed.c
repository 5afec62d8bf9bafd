/* CPU time of an acknowledgement: rlcc_host.h, and a Swift in doubles, on the same ring of completions.
 *
 * Swift follows its paper (SIGCOMM'20, algorithm 1) without flow scaling, pacing and loss; window in bytes. Prints the
 * name, ns an acknowledgement of a run each, and the last window, so that nothing is left out.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "rlcc_host.h"

#define RING 4096U
#ifndef ROUNDS
#define ROUNDS 2000U
#endif

typedef struct {
  double window, target, step, beta, most_cut, base, last_cut, largest, smallest;
} swift;

static void swift_acknowledged(swift *s, double now, double rtt, double bytes) {
  if (rtt < s->target) {
    s->window += s->step * bytes / s->window;
  } else if (now - s->last_cut >= rtt) {
    const double cut = s->beta * (rtt - s->target) / rtt;

    s->window *= 1.0 - ((cut < s->most_cut) ? cut : s->most_cut);
    s->last_cut = now;
  }
  s->window = (s->window < s->largest) ? s->window : s->largest;
  s->window = (s->window > s->smallest) ? s->window : s->smallest;
}

static double seconds(void) {
  struct timespec t;

  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void) {
  static rlcc_host_completion ring[RING];
  static double rtt[RING];
  const rlcc_params params = RLCC_PARAMS_DEFAULT;
  uint32_t state = 1U, i, round;
  rlcc_host host;
  swift s = {225000.0, 24000.0, 4096.0, 0.8, 0.5, 12000.0, 0.0, 225000.0, 4096.0};
  double begin, now = 0.0;
  uint32_t clock_ns = 0U;

  for (i = 0U; i < RING; i++) {
    state = state * 1664525U + 1013904223U;
    ring[i].timed = 1U;
    ring[i].sent_ns = 12000U + ((state >> 16U) % (((i >> 9U) % 3U == 0U) ? 500U : 30000U)); /* the RTT, for now */
    ring[i].acked_bytes = 4096U;
    ring[i].marked_bytes = ((ring[i].sent_ns > 24000U) && ((state >> 8U) % 4U != 0U)) ? 4096U : 0U;
    rtt[i] = (double)ring[i].sent_ns;
  }

  rlcc_host_start(&host, &params, RLCC_HOST_ENFORCE);
  begin = seconds();
  for (round = 0U; round < ROUNDS; round++) {
    for (i = 0U; i < RING; i++) {
      rlcc_host_completion c = ring[i];

      clock_ns += 330U;
      c.now_ns = clock_ns;
      c.sent_ns = clock_ns - c.sent_ns;
      rlcc_host_sent(&host, 4096U);
      rlcc_host_acknowledged(&host, &c);
    }
  }
  printf("nscc %.2f %u\n", 1e9 * (seconds() - begin) / ((double)RING * ROUNDS), (unsigned)rlcc_host_window(&host));

  begin = seconds();
  for (round = 0U; round < ROUNDS; round++) {
    for (i = 0U; i < RING; i++) {
      now += 330.0;
      swift_acknowledged(&s, now, rtt[i], 4096.0);
    }
  }
  printf("swift %.2f %.0f\n", 1e9 * (seconds() - begin) / ((double)RING * ROUNDS), s.window);
  return EXIT_SUCCESS;
}

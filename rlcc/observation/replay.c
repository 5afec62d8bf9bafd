/* Replays sends and completions through rlcc_host.h in mode observe.
 *
 * Input: records of words, host byte order (RECORD below). Output: for each record the window, the bytes in flight and
 * whether the send was beyond the window; then a line of text for each counter, its sum over all flows.
 * Argument: the number of flows. SET_PARAMS: assignments to what the operator of the flows set.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "rlcc_host.h"

#define WRAP_NS 3000000000U /* ns: longer RTTs are not timed, because the clock wraps */

#ifndef SET_PARAMS
#define SET_PARAMS
#endif

enum { FLOW, NOW, SENT, RTT, ACKED, MARKED, TRIMMED, NACKED, SKIPPED, EXPIRED, PATH, RECORD };

int main(int argc, char **argv) {
  rlcc_params params = RLCC_PARAMS_DEFAULT;
  const unsigned long flows = (argc == 2) ? strtoul(argv[1], NULL, 10) : 0UL;
  rlcc_host *const hosts = calloc(flows, sizeof *hosts);
  uint32_t in[RECORD], out[3];
  unsigned long n;

  if (hosts == NULL) {
    return EXIT_FAILURE;
  }
  SET_PARAMS
  for (n = 0UL; n < flows; n++) {
    rlcc_host_start(&hosts[n], &params, RLCC_HOST_OBSERVE);
  }
  while (fread(in, sizeof in, 1U, stdin) == 1U) {
    rlcc_host *const host = &hosts[in[FLOW]];
    const uint64_t beyond = host->counters.beyond_window;

    if (in[SENT] != 0U) {
      rlcc_host_sent(host, in[SENT]);
    } else {
      const rlcc_host_completion completion = {
          in[NOW],    in[NOW] - in[RTT], (uint32_t)((in[RTT] != 0U) && (in[RTT] <= WRAP_NS)),
          in[ACKED],  in[MARKED],        in[TRIMMED],
          in[NACKED], in[SKIPPED],       in[EXPIRED],
          in[PATH]};

      rlcc_host_acknowledged(host, &completion);
    }
    out[0] = host->window_bytes;
    out[1] = host->in_flight_bytes;
    out[2] = (uint32_t)(host->counters.beyond_window - beyond);
    if (fwrite(out, sizeof out, 1U, stdout) != 1U) {
      return EXIT_FAILURE;
    }
  }
#define TOTAL(name)                                                                                                    \
  {                                                                                                                    \
    uint64_t sum = 0U;                                                                                                 \
    for (n = 0UL; n < flows; n++) {                                                                                    \
      sum += hosts[n].counters.name;                                                                                   \
    }                                                                                                                  \
    (void)printf(#name " %" PRIu64 "\n", sum);                                                                         \
  }
  RLCC_HOST_COUNTERS(TOTAL) /* cppcheck-suppress unknownMacro */
  free(hosts);
  return EXIT_SUCCESS;
}

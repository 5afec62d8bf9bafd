/* Runs rlcc_decide on the host: flow, event, params a record from stdin; return value and flow to stdout.
 * Each record is flushed, so that the number of records out names the decision that failed.
 * The sizes that the manifest claims are checked against the compiler's own. */
#include <stdio.h>

#include "rlcc_policy.h"

_Static_assert(sizeof(rlcc_flow) == RLCC_FLOW_BYTES, "flow context: size differs from the manifest");
_Static_assert(sizeof(rlcc_event) == RLCC_EVENT_BYTES, "event: size differs from the manifest");
_Static_assert(sizeof(rlcc_params) == RLCC_PARAMS_BYTES, "params: size differs from the manifest");

int main(void) {
  rlcc_flow flow;
  rlcc_event event;
  rlcc_params params;
  while (fread(&flow, sizeof flow, 1, stdin) == 1) {
    if (fread(&event, sizeof event, 1, stdin) != 1 || fread(&params, sizeof params, 1, stdin) != 1)
      return 2;
    const uint32_t result = rlcc_decide(&flow, &event, &params);
    if (fwrite(&result, sizeof result, 1, stdout) != 1 || fwrite(&flow, sizeof flow, 1, stdout) != 1 ||
        fflush(stdout) != 0)
      return 2;
  }
  return 0;
}

/* Runs rlcc_decide on the host: a record of its structures from stdin, in their order; the return value and the
 * structures that it writes to stdout. RLCC_CONTEXT, RLCC_EVENT, RLCC_PARAMS and RLCC_ACTION are the types of those
 * that there are, RLCC_HEADER the header, RLCC_DECIDE() the call. Each record is flushed, so that the number of records
 * out names the decision that failed. The sizes that the manifest claims are checked against the compiler's own. */
#include <stdio.h>

#include RLCC_HEADER

#define READ(structure) (fread(&structure, sizeof structure, 1, stdin) == 1)
#define WRITE(structure) (fwrite(&structure, sizeof structure, 1, stdout) == 1)

#ifdef RLCC_CONTEXT
static RLCC_CONTEXT context;
_Static_assert(sizeof context == RLCC_CONTEXT_BYTES, "context: size differs from the manifest");
#endif
#ifdef RLCC_EVENT
static RLCC_EVENT event;
_Static_assert(sizeof event == RLCC_EVENT_BYTES, "event: size differs from the manifest");
#endif
#ifdef RLCC_PARAMS
static RLCC_PARAMS params;
_Static_assert(sizeof params == RLCC_PARAMS_BYTES, "params: size differs from the manifest");
#endif
#ifdef RLCC_ACTION
static RLCC_ACTION action;
_Static_assert(sizeof action == RLCC_ACTION_BYTES, "action: size differs from the manifest");
#endif

static int next_record(void) {
  int whole = 1;
#ifdef RLCC_CONTEXT
  whole = whole && READ(context);
#endif
#ifdef RLCC_EVENT
  whole = whole && READ(event);
#endif
#ifdef RLCC_PARAMS
  whole = whole && READ(params);
#endif
#ifdef RLCC_ACTION
  whole = whole && READ(action);
#endif
  return whole;
}

int main(void) {
  while (next_record()) {
#ifdef RLCC_ACTION
    const uint32_t result = 0;
    RLCC_DECIDE();
#else
    const uint32_t result = (uint32_t)RLCC_DECIDE();
#endif
    int whole = WRITE(result);
#ifdef RLCC_CONTEXT
    whole = whole && WRITE(context);
#endif
#ifdef RLCC_ACTION
    whole = whole && WRITE(action);
#endif
    if (!whole || fflush(stdout) != 0)
      return 2;
  }
  return 0;
}

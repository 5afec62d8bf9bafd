/* Calls the class as lines of stdin say; prints the window after each acknowledgement. */
#include <cinttypes>
#include <cstdint>
#include <cstdio>

static uint64_t ticks;
#define RLCC_UCCL_TICKS() ticks
#include "cc/cc_state.h"

int main(int argc, char **argv) {
  using State = uccl::cc::CongestionControlState;
  State made, state;
  uint64_t number, bytes;
  char call;

  (void)argv;
  made.init(State::parseMode("RLCC_TEST_MODE"), 2.0, 1e11);
  state = static_cast<State &&>(made);
  while (std::scanf(" %c %" SCNu64 " %" SCNu64 " %" SCNu64, &call, &ticks, &number, &bytes) == 4) {
    if (call == 's') {
      state.recordSendTsc(number);
    } else {
      state.onAck(number, static_cast<size_t>(bytes));
    }
    std::printf("%zu %zu\n", state.getWindowBytes(), state.decidedWindowBytes());
  }
  std::printf("%d %" PRIu64 " %" PRIu64 "\n", state.enabled() ? 1 : 0, state.counters().untimed,
              state.counters().over_acknowledged);
  return (argc > 1) ? 1 : 0;
}

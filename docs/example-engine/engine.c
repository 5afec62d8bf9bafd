/* engine.c - a rate engine in miniature: when to call the policy, with what, and what to do with its answer.
 *
 * Eight flows share a link of 100 Gb/s. The path is a toy: what the flows send beyond the link's rate waits in one
 * queue. Replace wait_for_response() and set_rate() by your card's; the rest is what firmware around a policy does.
 */
#include <inttypes.h>
#include <stdio.h>

#include "rlcc_policy.h"

#define FLOWS 8U
#define LINE_RATE_Q20 (1U << 20)
#define BASE_RTT_NS 8192U
#define BYTES_PER_NS_Q20 13107200U /* 100 Gb/s = 12.5 bytes in a ns, Q20 */

/* One context per flow. All zero: a new flow, which starts at the policy's initial rate. */
static rlcc_flow flows[FLOWS];
static const rlcc_params params = RLCC_PARAMS_DEFAULT;

/* The rest belongs to the toy path, not to the policy. */
static uint32_t rate_q20[FLOWS];
static uint64_t queue_bytes;
static uint32_t now_ns = UINT32_MAX - 1000000U; /* timestamps wrap, and may */

/* Your card: it sends an RTT request and takes two timestamps. */
static rlcc_event wait_for_response(void) {
  const uint32_t waiting_ns = (uint32_t)(queue_bytes * (1U << 20) / BYTES_PER_NS_Q20);
  rlcc_event event = {0};
  event.request_sent_ns = now_ns;
  event.response_ns = now_ns + BASE_RTT_NS + waiting_ns;
  event.queue_bytes = (uint32_t)queue_bytes;
  return event;
}

/* Your card: it writes the register of the flow's rate. */
static void set_rate(uint32_t flow, uint32_t q20) { rate_q20[flow] = q20; }

/* For one base RTT the flows send, and the link drains the queue. */
static void let_time_pass(void) {
  uint64_t sum_q20 = 0;
  for (uint32_t flow = 0; flow < FLOWS; ++flow)
    sum_q20 += rate_q20[flow];
  const uint64_t came = (BASE_RTT_NS * (BYTES_PER_NS_Q20 >> 10) >> 10) * sum_q20 >> 20;
  const uint64_t left = BASE_RTT_NS * (BYTES_PER_NS_Q20 >> 10) >> 10;
  queue_bytes += came;
  queue_bytes -= queue_bytes < left ? queue_bytes : left;
  now_ns += BASE_RTT_NS;
}

int main(void) {
  for (uint32_t flow = 0; flow < FLOWS; ++flow)
    rate_q20[flow] = LINE_RATE_Q20 / FLOWS;
  for (uint32_t turn = 0; turn <= 400; ++turn) {
    for (uint32_t flow = 0; flow < FLOWS; ++flow) {
      const rlcc_event event = wait_for_response();
      set_rate(flow, rlcc_decide(&flows[flow], &event, &params));
    }
    let_time_pass();
    if (turn % 100 == 0)
      printf("turn %3" PRIu32 "  rate of flow 0: %5.1f Gb/s  queue: %4" PRIu64 " KB\n", turn,
             100.0 * rate_q20[0] / LINE_RATE_Q20, queue_bytes / 1000U);
  }
  /* A linker keeps the record that `rlcc identify` reads because this calls it. Log it at start-up. */
  const rlcc_identity *identity = rlcc_policy_identity();
  printf("policy %s, ABI %" PRIu32 ", layout of contexts %08" PRIx32 "\n", identity->name, identity->abi,
         identity->layout);
  return 0;
}

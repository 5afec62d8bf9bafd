/* The sender: several flows, each with its window, and its rate where the policy has one. Every call of the header goes
 * to the log.
 *
 * Flows have data without end: what is lost is not sent again, and goodput is what was acknowledged. Each flow sends at
 * line rate at most.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>

#include "rlcc_host.h"
#include "virtual_time.h"

#define OUTSTANDING 4096U /* packets a flow */
#define REORDERED 3U      /* packets: one that is this far behind an acknowledged one is lost */
#define TIMEOUT_NS 100000000U

/* ns: unit of the header's times. A learnt policy reads RTTs up to 4.19 ms, and this path has longer ones: in units of
 * 500 ns they are those of a path that is 500 times as fast and as short. */
#if RLCC_HOST_PACES
#define UNIT_NS 500U
#else
#define UNIT_NS 1U
#endif

typedef struct {
  rlcc_host host;
  uint32_t oldest, next; /* sequence numbers: first in flight, next to send */
  uint64_t last_ns;      /* the last packet was sent; the next one leaves a gap after it */
  uint64_t sent_ns[OUTSTANDING];
  uint8_t done[OUTSTANDING];
} sender_flow;

typedef struct {
  const loopback_settings *settings;
  FILE *log;
  virtual_time time;
  sender_flow flows[MAX_FLOWS];
} sender;

static const char COLUMNS[] = "now_ns,flow,sent_bytes,rtt_ns,acked_bytes,marked_bytes,skipped_bytes,expired_bytes,"
                              "window_bytes\n";

static void log_call(const sender *s, uint32_t flow, uint32_t sent, const rlcc_host_completion *c) {
  static const rlcc_host_completion none;
  const rlcc_host_completion *const completion = (c != NULL) ? c : &none;
  const uint32_t rtt = (completion->timed != 0U) ? completion->now_ns - completion->sent_ns : 0U;

  if (s->log != NULL) {
    (void)fprintf(s->log,
                  "%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32
                  ",%" PRIu32 "\n",
                  s->time.now_ns / UNIT_NS, flow, sent, rtt, completion->acked_bytes, completion->marked_bytes,
                  completion->skipped_bytes, completion->expired_bytes, s->flows[flow].host.window_bytes);
  }
}

static void complete(sender *s, uint32_t flow, rlcc_host_completion *completion) {
  completion->now_ns = (uint32_t)(s->time.now_ns / UNIT_NS);
  rlcc_host_acknowledged(&s->flows[flow].host, completion);
  log_call(s, flow, 0U, completion);
}

/* Packets before `end` that are still in flight are lost. Returns their bytes. */
static uint32_t lose_before(sender_flow *flow, uint32_t end) {
  uint32_t lost = 0U;

  while ((int32_t)(end - flow->oldest) > 0) {
    if (flow->done[flow->oldest % OUTSTANDING] == 0U) {
      lost += PACKET_BYTES;
      flow->done[flow->oldest % OUTSTANDING] = 1U;
    }
    flow->oldest += 1U;
  }
  return lost;
}

static void acknowledge(sender *s, const packet_head *head) {
  sender_flow *const flow = &s->flows[head->flow % MAX_FLOWS];
  rlcc_host_completion completion = {0U, 0U, 1U, PACKET_BYTES, 0U, 0U, 0U, 0U, 0U, 0U};

  if ((head->flow >= s->settings->flows) || ((head->sequence - flow->oldest) >= (flow->next - flow->oldest)) ||
      (flow->done[head->sequence % OUTSTANDING] != 0U)) {
    return; /* counted as lost before */
  }
  flow->done[head->sequence % OUTSTANDING] = 1U;
  completion.sent_ns = (uint32_t)(flow->sent_ns[head->sequence % OUTSTANDING] / UNIT_NS);
  completion.marked_bytes = (head->marked != 0U) ? PACKET_BYTES : 0U;
  completion.skipped_bytes = lose_before(flow, head->sequence - REORDERED);
  while ((flow->oldest != flow->next) && (flow->done[flow->oldest % OUTSTANDING] != 0U)) {
    flow->oldest += 1U;
  }
  complete(s, head->flow, &completion);
}

/* All that is in flight is lost. */
static void expire(sender *s, uint32_t number) {
  sender_flow *const flow = &s->flows[number];
  rlcc_host_completion completion = {0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U};

  completion.expired_bytes = lose_before(flow, flow->next);
  complete(s, number, &completion);
}

/* When the oldest packet of a flow is late; UINT64_MAX where nothing is in flight. */
static uint64_t expires_ns(const sender_flow *flow) {
  return (flow->oldest != flow->next) ? flow->sent_ns[flow->oldest % OUTSTANDING] + TIMEOUT_NS : UINT64_MAX;
}

/* What the header cannot know of the path: NSCC was emitted for it, a policy such as robust-window takes it as
 * parameters. */
static rlcc_params params_of_path(void) {
  rlcc_params params = RLCC_PARAMS_DEFAULT;

#if RLCC_HOST_PACES
  params.base_rtt_recip_q42 = RLCC_BASE_RTT_RECIP_Q42(BASE_RTT_NS / UNIT_NS);
  params.path_rtt_ns = BASE_RTT_NS / UNIT_NS;
  params.in_flight_line_q2 = (uint32_t)(LINE_RATE_BPS / 8ULL * BASE_RTT_NS / 1000000000U * 6U / 5U) << 2U; /* 1.2 BDP */
  params.in_flight_min_bytes = PACKET_BYTES;
#endif
  return params;
}

/* ns between two packets of a flow, at its rate or at the line's. */
static uint64_t gap_ns(const sender *s, const sender_flow *flow) {
#if RLCC_HOST_PACES
  if (s->settings->mode == RLCC_HOST_ENFORCE) {
    return (PACKET_NS << 20U) / rlcc_host_rate_q20(&flow->host);
  }
#endif
  (void)s;
  (void)flow;
  return PACKET_NS;
}

/* When a flow may send: now or later; UINT64_MAX where its window is full. */
static uint64_t may_send_ns(const sender *s, const sender_flow *flow) {
  const uint32_t in_flight = flow->host.in_flight_bytes;
  const uint32_t window =
      (s->settings->mode == RLCC_HOST_ENFORCE) ? rlcc_host_window(&flow->host) : s->settings->fixed_window;

  if ((flow->next - flow->oldest < OUTSTANDING) && ((in_flight == 0U) || (in_flight + PACKET_BYTES <= window))) {
    const uint64_t paced_ns = flow->last_ns + gap_ns(s, flow);

    return (paced_ns > s->time.now_ns) ? paced_ns : s->time.now_ns;
  }
  return UINT64_MAX;
}

static int send_packet(sender *s, uint32_t number) {
  sender_flow *const flow = &s->flows[number];
  const packet_head head = {s->time.now_ns, 0U, number, flow->next, 0U, 0U};

  flow->last_ns = s->time.now_ns;
  flow->sent_ns[flow->next % OUTSTANDING] = s->time.now_ns;
  flow->done[flow->next % OUTSTANDING] = 0U;
  flow->next += 1U;
  rlcc_host_sent(&flow->host, PACKET_BYTES);
  log_call(s, number, PACKET_BYTES, NULL);
  return send_head(&s->time, &head);
}

/* Handles events up to `end` in order: acknowledgements, timeouts, packets that may be sent. Returns 0, or 1 where the
 * path does not answer. */
static int run_until(sender *s, uint64_t end) {
  int failed = 0;

  while (!failed) {
    const packet_head *const head = next_acknowledgement(&s->time);
    uint64_t due = (head != NULL) ? head->arrives_ns : UINT64_MAX;
    uint32_t n, flow = MAX_FLOWS; /* none: the acknowledgement comes first */

    for (n = 0U; n < s->settings->flows; n++) {
      const uint64_t expires = expires_ns(&s->flows[n]), sends = may_send_ns(s, &s->flows[n]);
      const uint64_t acts = (expires < sends) ? expires : sends;

      flow = (acts < due) ? n : flow;
      due = (acts < due) ? acts : due;
    }
    if (due > end) {
      break;
    }
    reach(&s->time, due);
    if (flow == MAX_FLOWS) {
      acknowledge(s, head);
      take_acknowledgement(&s->time);
    } else if (expires_ns(&s->flows[flow]) <= due) {
      expire(s, flow);
    } else {
      failed = send_packet(s, flow);
    }
  }
  return failed;
}

static void print_results(const sender *s, const uint64_t *settled) {
  const uint32_t flows = s->settings->flows;
  double sum = 0.0, squares = 0.0;
  uint32_t n;

  for (n = 0U; n < flows; n++) {
    const double bytes = (double)(s->flows[n].host.counters.acked_bytes - settled[n]);

    sum += bytes;
    squares += bytes * bytes;
  }
  (void)printf("goodput_mbps %.2f\n", sum * 8.0 / (0.75 * s->settings->seconds) / 1e6);
  (void)printf("jain %.4f\n", (squares > 0.0) ? sum * sum / (flows * squares) : 0.0);
  (void)printf("late_us_max %" PRIu64 "\n", s->time.late_ns_max / 1000U);
#define TOTAL(name)                                                                                                    \
  {                                                                                                                    \
    uint64_t total = 0U;                                                                                               \
    for (n = 0U; n < flows; n++) {                                                                                     \
      total += s->flows[n].host.counters.name;                                                                         \
    }                                                                                                                  \
    (void)printf(#name " %" PRIu64 "\n", total);                                                                       \
  }
  RLCC_HOST_COUNTERS(TOTAL)
}

int run_sender(const loopback_settings *settings, const endpoint *own, const endpoint *bottleneck,
               sender_report *report) {
  static sender s;
  const rlcc_params params = params_of_path();
  const uint64_t length = 1000000000ULL * settings->seconds;
  uint64_t settled[MAX_FLOWS] = {0U}; /* acknowledged bytes when the first quarter of the run ends */
  uint64_t end;
  uint32_t n, random = settings->seed;
  int failed = 0;

  s.settings = settings;
  s.log = (settings->log != NULL) ? fopen(settings->log, "w") : NULL;
  if ((settings->log != NULL) && (s.log == NULL)) {
    return 1;
  }
  if (s.log != NULL) {
    (void)fputs(COLUMNS, s.log);
  }
  for (n = 0U; n < settings->flows; n++) {
    rlcc_host_start(&s.flows[n].host, &params, settings->mode);
    s.flows[n].last_ns = START_NS + ((uint64_t)draw(&random) * BASE_RTT_NS >> 32U); /* out of step */
  }
  start_time(&s.time, own, bottleneck);
  for (end = START_NS + ROUND_NS; (end <= START_NS + length) && !failed; end += ROUND_NS) {
    failed = begin_round(&s.time) || run_until(&s, end);
    end_round(&s.time, end);
    for (n = 0U; (end == SETTLED_NS(settings)) && (n < settings->flows); n++) {
      settled[n] = s.flows[n].host.counters.acked_bytes;
    }
  }
  failed = failed || end_run(&s.time);
  for (n = 0U; n < settings->flows; n++) {
    report->packets += s.flows[n].host.counters.sends;
  }
  report->acknowledgements = s.time.came;
  print_results(&s, settled);
  return (((s.log != NULL) && (fclose(s.log) != 0)) || failed) ? 1 : 0;
}

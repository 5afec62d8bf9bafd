/* The sender: several flows, each with its window, and its rate where the policy has one. Every call of the header goes
 * to the log.
 *
 * Flows have data without end: what is lost is not sent again, and goodput is what was acknowledged.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>

#include "loopback.h"
#include "rlcc_host.h"

#define OUTSTANDING 4096U /* packets a flow */
#define REORDERED 3U      /* packets: one that is this far behind an acknowledged one is lost */
#define TIMEOUT_NS 100000000U
#define LONGEST_WAIT_NS 10000000U

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
  uint64_t paced_ns;     /* the packet after the last one leaves a gap after this */
  uint64_t sent_ns[OUTSTANDING];
  uint8_t done[OUTSTANDING];
} sender_flow;

static sender_flow flows[MAX_FLOWS];

static const char COLUMNS[] = "now_ns,flow,sent_bytes,rtt_ns,acked_bytes,marked_bytes,skipped_bytes,expired_bytes,"
                              "window_bytes\n";

static void log_call(FILE *log, uint64_t now, uint32_t flow, uint32_t sent, const rlcc_host_completion *c) {
  static const rlcc_host_completion none;
  const rlcc_host_completion *const completion = (c != NULL) ? c : &none;
  const uint32_t rtt = (completion->timed != 0U) ? completion->now_ns - completion->sent_ns : 0U;

  if (log != NULL) {
    (void)fprintf(log,
                  "%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32
                  ",%" PRIu32 "\n",
                  now / UNIT_NS, flow, sent, rtt, completion->acked_bytes, completion->marked_bytes,
                  completion->skipped_bytes, completion->expired_bytes, flows[flow].host.window_bytes);
  }
}

static void complete(FILE *log, uint64_t now, uint32_t flow, rlcc_host_completion *completion) {
  completion->now_ns = (uint32_t)(now / UNIT_NS);
  rlcc_host_acknowledged(&flows[flow].host, completion);
  log_call(log, now, flow, 0U, completion);
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

static void acknowledge(FILE *log, const packet_head *head, uint64_t now) {
  sender_flow *const flow = &flows[head->flow];
  rlcc_host_completion completion = {0U, 0U, 1U, PACKET_BYTES, 0U, 0U, 0U, 0U, 0U, 0U};

  if (((head->sequence - flow->oldest) >= (flow->next - flow->oldest)) ||
      (flow->done[head->sequence % OUTSTANDING] != 0U)) {
    return; /* counted as lost before */
  }
  flow->done[head->sequence % OUTSTANDING] = 1U;
  /* The path's RTT, without the time for which this process did not run. */
  completion.sent_ns = (uint32_t)(now / UNIT_NS) - (head->arrives_ns - head->sent_ns) / UNIT_NS;
  completion.marked_bytes = (head->marked != 0U) ? PACKET_BYTES : 0U;
  completion.skipped_bytes = lose_before(flow, head->sequence - REORDERED);
  while ((flow->oldest != flow->next) && (flow->done[flow->oldest % OUTSTANDING] != 0U)) {
    flow->oldest += 1U;
  }
  complete(log, now, head->flow, &completion);
}

/* All that is in flight is lost where the oldest packet is late. */
static void expire(FILE *log, uint32_t number, uint64_t now) {
  sender_flow *const flow = &flows[number];

  if ((flow->oldest != flow->next) && (now - flow->sent_ns[flow->oldest % OUTSTANDING] > TIMEOUT_NS)) {
    rlcc_host_completion completion = {0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U};

    completion.expired_bytes = lose_before(flow, flow->next);
    complete(log, now, number, &completion);
  }
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

/* ns between two packets of a flow at its rate. */
static uint64_t gap_ns(const loopback_settings *settings, const sender_flow *flow) {
#if RLCC_HOST_PACES
  if (settings->mode == RLCC_HOST_ENFORCE) {
    return (PACKET_NS << 20U) / rlcc_host_rate_q20(&flow->host);
  }
#endif
  (void)settings;
  (void)flow;
  return 0U;
}

/* When a flow may send: now or later; UINT64_MAX where its window is full. */
static uint64_t may_send(const loopback_settings *settings, const sender_flow *flow) {
  const uint32_t in_flight = flow->host.in_flight_bytes;
  const uint32_t window =
      (settings->mode == RLCC_HOST_ENFORCE) ? rlcc_host_window(&flow->host) : settings->fixed_window;

  if ((flow->next - flow->oldest < OUTSTANDING) && ((in_flight == 0U) || (in_flight + PACKET_BYTES <= window))) {
    return flow->paced_ns + gap_ns(settings, flow);
  }
  return UINT64_MAX;
}

static void send_packet(FILE *log, const endpoint *own, const endpoint *to, uint32_t number, uint64_t now) {
  sender_flow *const flow = &flows[number];
  const packet_head head = {number, flow->next, (uint32_t)now, 0U, 0U};
  char bytes[PACKET_BYTES] = {0};

  (void)memcpy(bytes, &head, sizeof head);
  flow->sent_ns[flow->next % OUTSTANDING] = now;
  flow->done[flow->next % OUTSTANDING] = 0U;
  flow->next += 1U;
  (void)sendto(own->socket, bytes, sizeof bytes, 0, (const struct sockaddr *)&to->address, sizeof to->address);
  rlcc_host_sent(&flow->host, PACKET_BYTES);
  log_call(log, now, number, PACKET_BYTES, NULL);
}

/* Sends a packet a flow in turn, as long as one may. Returns when the next one may. */
static uint64_t send_all(const loopback_settings *settings, FILE *log, const endpoint *own, const endpoint *to) {
  uint64_t soonest;
  uint32_t n, sent;

  do {
    soonest = UINT64_MAX;
    for (sent = 0U, n = 0U; n < settings->flows; n++) {
      const uint64_t now = clock_ns();
      const uint64_t due = may_send(settings, &flows[n]);

      if (due <= now) {
        const uint64_t latest = now - gap_ns(settings, &flows[n]); /* a flow that is late catches up on one packet */

        flows[n].paced_ns = (due > latest) ? due : latest;
        send_packet(log, own, to, n, now);
        sent = 1U;
      } else if (due < soonest) {
        soonest = due;
      }
    }
  } while (sent != 0U);
  return soonest;
}

/* Waits for an acknowledgement, at most until then. */
static void wait_until(const endpoint *own, uint64_t then) {
  const uint64_t now = clock_ns();
  const uint64_t left = (then > now) ? then - now : 0U;
  const struct timespec timeout = {0, (long)((left < LONGEST_WAIT_NS) ? left : LONGEST_WAIT_NS)};
  fd_set ready;

  FD_ZERO(&ready);
  FD_SET(own->socket, &ready);
  (void)pselect(own->socket + 1, &ready, NULL, NULL, &timeout, NULL);
}

static void print_results(const loopback_settings *settings, const uint64_t *settled, double seconds) {
  double sum = 0.0, squares = 0.0;
  uint32_t n;

  for (n = 0U; n < settings->flows; n++) {
    const double bytes = (double)(flows[n].host.counters.acked_bytes - settled[n]);

    sum += bytes;
    squares += bytes * bytes;
  }
  (void)printf("goodput_mbps %.2f\n", sum * 8.0 / seconds / 1e6);
  (void)printf("jain %.4f\n", (squares > 0.0) ? sum * sum / (settings->flows * squares) : 0.0);
#define TOTAL(name)                                                                                                    \
  {                                                                                                                    \
    uint64_t total = 0U;                                                                                               \
    for (n = 0U; n < settings->flows; n++) {                                                                           \
      total += flows[n].host.counters.name;                                                                            \
    }                                                                                                                  \
    (void)printf(#name " %" PRIu64 "\n", total);                                                                       \
  }
  RLCC_HOST_COUNTERS(TOTAL)
}

int run_sender(const loopback_settings *settings, const endpoint *own, const endpoint *bottleneck) {
  const rlcc_params params = params_of_path();
  const uint64_t begin = clock_ns();
  const uint64_t length = 1000000000ULL * settings->seconds;
  FILE *const log = (settings->log != NULL) ? fopen(settings->log, "w") : NULL;
  uint64_t settled[MAX_FLOWS] = {0U}; /* acknowledged bytes when the first quarter of the run ends */
  uint64_t settled_ns = 0U, now;
  uint32_t n;

  if ((settings->log != NULL) && (log == NULL)) {
    return 1;
  }
  if (log != NULL) {
    (void)fputs(COLUMNS, log);
  }
  for (n = 0U; n < settings->flows; n++) {
    rlcc_host_start(&flows[n].host, &params, settings->mode);
  }
  for (now = begin; now - begin < length; now = clock_ns()) {
    packet_head head;

    wait_until(own, send_all(settings, log, own, bottleneck));
    while (recv(own->socket, &head, sizeof head, MSG_DONTWAIT) == (ssize_t)sizeof head) {
      if (head.flow < settings->flows) {
        acknowledge(log, &head, clock_ns());
      }
    }
    now = clock_ns();
    for (n = 0U; n < settings->flows; n++) {
      expire(log, n, now);
    }
    if ((settled_ns == 0U) && (now - begin > length / 4U)) {
      settled_ns = now;
      for (n = 0U; n < settings->flows; n++) {
        settled[n] = flows[n].host.counters.acked_bytes;
      }
    }
  }
  print_results(settings, settled, 1e-9 * (double)(now - settled_ns));
  return ((log != NULL) && (fclose(log) != 0)) ? 1 : 0;
}

/* The five calls of suet_cc.h on rlcc_host.h. */
#define _POSIX_C_SOURCE 200809L
#include "suet_cc.h"

#ifndef RLCC_SUET_CLOCK
#include <time.h>

uint64_t rlcc_suet_now_ns(void) {
  struct timespec t;

  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return 1000000000ULL * (uint64_t)t.tv_sec + (uint64_t)t.tv_nsec;
}
#endif

#define UNTIMED_NS 3000000000ULL /* ns: the header's clock wraps at 4.29 s */

static uint32_t packet_bytes(const struct suet_cc *cc) {
  const uint32_t bytes = RLCC_SUET_PACKET_BYTES;

  (void)cc;
  return (bytes != 0U) ? bytes : 1U;
}

/* Packets that the window holds, 1 to max_cwnd. */
static void set_window(struct suet_cc *cc) {
  const uint32_t packets = rlcc_host_window(&cc->host) / packet_bytes(cc);

  cc->cwnd = (packets < cc->max_cwnd) ? packets : cc->max_cwnd;
  if (cc->cwnd == 0U) {
    cc->cwnd = 1U;
  }
}

void suet_cc_init(struct suet_cc *cc, uint32_t cwnd) {
  static const struct suet_cc none;
  const rlcc_params params = RLCC_PARAMS_DEFAULT;

  *cc = none;
  cc->max_cwnd = (cwnd != 0U) ? cwnd : 1U;
  rlcc_host_start(&cc->host, &params, RLCC_SUET_MODE);
  set_window(cc);
}

bool suet_cc_can_send(const struct suet_cc *cc) { return cc->in_flight < cc->cwnd; }

void suet_cc_track(struct suet_cc *cc) {
  rlcc_host_sent(&cc->host, packet_bytes(cc));
  cc->sent_ns[cc->next % RLCC_SUET_TIMES] = rlcc_suet_now_ns();
  cc->next += 1U;
  cc->in_flight += 1U;
}

/* Hands the header packets that were acknowledged, or trimmed. */
static void decide(struct suet_cc *cc, uint32_t packets, uint32_t trimmed, uint64_t sent_ns) {
  const uint32_t packet = packet_bytes(cc);
  const uint64_t now = rlcc_suet_now_ns();
  const uint32_t marked = (cc->marked < packets) ? cc->marked : packets;
  rlcc_host_completion completion = {0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U};

  completion.now_ns = (uint32_t)now;
  completion.sent_ns = (uint32_t)sent_ns;
  completion.timed = (uint32_t)((sent_ns != 0U) && (now >= sent_ns) && (now - sent_ns <= UNTIMED_NS));
  completion.acked_bytes = packets * packet;
  completion.marked_bytes = marked * packet;
  completion.trimmed_bytes = trimmed * packet;
  rlcc_host_acknowledged(&cc->host, &completion);
  if (trimmed != 0U) {
    rlcc_host_sent(&cc->host, completion.trimmed_bytes); /* trimmed packets are sent again under their reservation */
  }
  if (packets != 0U) {
    cc->marked = 0U; /* marks without an acknowledgement wait for the next one */
  }
  set_window(cc);
}

void suet_cc_ack(struct suet_cc *cc, uint32_t count) {
  const uint32_t packets = (count < cc->in_flight) ? count : cc->in_flight;
  uint64_t sent_ns = 0U;

  if (packets != 0U) {
    cc->first += packets;
    if ((cc->next - (cc->first - 1U)) <= RLCC_SUET_TIMES) {
      sent_ns = cc->sent_ns[(cc->first - 1U) % RLCC_SUET_TIMES];
    }
    cc->in_flight -= packets;
  }
  if (count > packets) {
    cc->host.counters.over_acknowledged += 1U;
  }
  if (packets != 0U) {
    decide(cc, packets, 0U, sent_ns);
  }
}

void suet_cc_congestion(struct suet_cc *cc, bool trimmed) {
  if (trimmed) {
    cc->trim_events += 1U;
    if (cc->in_flight != 0U) {
      decide(cc, 0U, 1U, 0U); /* a NACK of a trimmed packet may come alone */
    }
  } else {
    cc->ecn_events += 1U;
    cc->marked += 1U;
  }
}

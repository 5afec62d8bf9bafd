/* The path: a queue served at line rate, marks, drops, injected losses, then one delay for the whole way.
 *
 * It computes from the heads alone and reads no clock: a packet goes on as soon as the time at which it arrives is
 * known, and the sender waits for that time.
 */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/socket.h>

#include "loopback.h"

#define SLOTS 128U /* packets: more than the queue holds */

typedef struct {
  uint64_t begins_ns; /* its first bit leaves */
  char bytes[PACKET_BYTES];
} slot;

static slot queue[SLOTS];

static void send_on(const endpoint *own, const endpoint *receiver, const char *bytes) {
  (void)sendto(own->socket, bytes, PACKET_BYTES, 0, (const struct sockaddr *)&receiver->address,
               sizeof receiver->address);
}

/* A packet is marked as it begins to leave, by the bytes behind it: never up to MARK_MIN_BYTES, always beyond
 * MARK_MAX_BYTES. */
static void leave(slot *place, uint64_t behind, uint32_t *random, bottleneck_report *report) {
  const uint64_t drawn = (uint64_t)draw(random) * (MARK_MAX_BYTES - MARK_MIN_BYTES) >> 32U;
  packet_head head;

  (void)memcpy(&head, place->bytes, sizeof head);
  head.arrives_ns = place->begins_ns + PACKET_NS + DELAY_NS;
  head.marked = (uint32_t)(behind > MARK_MIN_BYTES + drawn);
  report->marked += head.marked;
  report->forwarded += 1U;
  (void)memcpy(place->bytes, &head, sizeof head);
}

void run_bottleneck(const loopback_settings *settings, const endpoint *own, const endpoint *receiver,
                    bottleneck_report *report) {
  uint64_t first = 0U, next = 0U;  /* numbers of the oldest packet in the queue and of the next one */
  uint64_t now = 0U, free_ns = 0U; /* virtual time, and end of service */
  uint32_t random = settings->seed;
  char bytes[PACKET_BYTES];

  (void)memset(report, 0, sizeof *report);
  while (receive(own, bytes)) {
    uint64_t queued_ns;
    uint32_t queued;
    packet_head head;

    (void)memcpy(&head, bytes, sizeof head);
    if (head.flow == END_OF_RUN) {
      return;
    }
    if (head.sent_ns < now) {
      continue; /* came behind a later one: lost */
    }
    now = head.sent_ns;
    for (; (first != next) && (queue[first % SLOTS].begins_ns <= now); first++) {
      leave(&queue[first % SLOTS], (next - first - 1U) * PACKET_BYTES, &random, report);
      send_on(own, receiver, queue[first % SLOTS].bytes);
    }
    if (head.flow == CLOCK) {
      send_on(own, receiver, bytes);
      continue;
    }
    queued_ns = (free_ns > now) ? free_ns - now : 0U;
    queued = (uint32_t)(queued_ns * PACKET_BYTES / PACKET_NS);
    report->packets += 1U;
    if (now >= SETTLED_NS(settings)) {
      report->found += 1U;
      report->queue_bytes_sum += queued;
      report->queue_kib[((queued < QUEUE_BYTES) ? queued : QUEUE_BYTES) >> 10U] += 1U;
    }
    if (((uint64_t)draw(&random) * 1000000U >> 32U) < settings->loss_ppm) {
      report->lost += 1U;
    } else if (queued + PACKET_BYTES > QUEUE_BYTES) {
      report->dropped += 1U;
    } else {
      queue[next % SLOTS].begins_ns = now + queued_ns;
      (void)memcpy(queue[next % SLOTS].bytes, bytes, sizeof bytes);
      free_ns = now + queued_ns + PACKET_NS;
      next += 1U;
    }
  }
}

/* The path: a queue served at line rate, marks, drops, injected losses, then one delay for the whole way. */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "loopback.h"

#define SLOTS 4096U

typedef struct {
  uint64_t leaves_ns; /* leaves the queue; reaches the receiver DELAY_NS later */
  char bytes[PACKET_BYTES];
} slot;

static slot path[SLOTS]; /* packets of queue and delay, in order */

static uint32_t draw(uint32_t *random) { return *random = *random * 1664525U + 1013904223U; }

/* Packets that leave the queue by then are marked by what they leave behind: never up to MARK_MIN_BYTES, always beyond
 * MARK_MAX_BYTES. Returns the number of the first that stays. */
static uint64_t leave(uint64_t first, uint64_t next, uint64_t now, uint32_t *random, bottleneck_report *report) {
  for (; (first != next) && (path[first % SLOTS].leaves_ns <= now); first++) {
    const uint64_t behind = (next - first - 1U) * PACKET_BYTES;
    const uint64_t drawn = (uint64_t)draw(random) * (MARK_MAX_BYTES - MARK_MIN_BYTES) >> 32U;
    packet_head head;

    (void)memcpy(&head, path[first % SLOTS].bytes, sizeof head);
    head.arrives_ns = (uint32_t)(path[first % SLOTS].leaves_ns + DELAY_NS);
    head.marked = (uint32_t)(behind > MARK_MIN_BYTES + drawn);
    report->marked += head.marked;
    (void)memcpy(path[first % SLOTS].bytes, &head, sizeof head);
  }
  return first;
}

void run_bottleneck(const loopback_settings *settings, const endpoint *own, const endpoint *receiver,
                    bottleneck_report *report) {
  uint64_t first = 0U, queue = 0U, next = 0U; /* numbers of the oldest packet, the oldest in the queue, the next one */
  uint64_t free_ns = 0U, begin_ns = 0U;       /* end of service, first arrival */
  uint32_t random = settings->seed;

  (void)memset(report, 0, sizeof *report);
  for (;;) {
    struct pollfd ready = {own->socket, POLLIN, 0};
    const uint64_t before = clock_ns();
    char bytes[PACKET_BYTES];
    packet_head head;
    int wait_ms = 1000;

    if (first != next) {
      const uint64_t due = path[first % SLOTS].leaves_ns + DELAY_NS;

      wait_ms = (due > before) ? (int)((due - before) / 1000000U) : 0;
    }
    (void)poll(&ready, 1U, wait_ms);
    while (recv(own->socket, bytes, sizeof bytes, MSG_DONTWAIT) == (ssize_t)sizeof bytes) {
      uint64_t now = clock_ns(), queued_ns;
      uint32_t queued;

      (void)memcpy(&head, bytes, sizeof head);
      now -= (uint32_t)now - head.sent_ns; /* when it was sent, however late this process runs */
      queued_ns = (free_ns > now) ? free_ns - now : 0U;
      queued = (uint32_t)(queued_ns * PACKET_BYTES / PACKET_NS);
      if (head.flow == END_OF_RUN) {
        return;
      }
      begin_ns = (report->packets != 0U) ? begin_ns : now;
      report->packets += 1U;
      if (now - begin_ns >= 250000000ULL * settings->seconds) {
        report->found += 1U;
        report->queue_bytes_sum += queued;
        report->queue_kib[((queued < QUEUE_BYTES) ? queued : QUEUE_BYTES) >> 10U] += 1U;
      }
      queue = leave(queue, next, now, &random, report);
      if (((uint64_t)draw(&random) * 1000000U >> 32U) < settings->loss_ppm) {
        report->lost += 1U;
      } else if ((queued + PACKET_BYTES > QUEUE_BYTES) || (next - first == SLOTS)) {
        report->dropped += 1U;
      } else {
        slot *const place = &path[next % SLOTS];

        free_ns = now + queued_ns + PACKET_NS;
        place->leaves_ns = free_ns;
        (void)memcpy(place->bytes, bytes, sizeof bytes);
        next += 1U;
      }
    }
    while ((first != next) && (path[first % SLOTS].leaves_ns + DELAY_NS <= clock_ns())) {
      queue = leave(queue, next, path[first % SLOTS].leaves_ns, &random, report);
      (void)sendto(own->socket, path[first % SLOTS].bytes, PACKET_BYTES, 0, (const struct sockaddr *)&receiver->address,
                   sizeof receiver->address);
      first += 1U;
    }
  }
}

/* The path: a queue served at line rate, marks, drops, injected losses, then the base RTT as one delay. */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "loopback.h"

#define SLOTS 4096U
#define PACKET_NS (8000000000ULL * PACKET_BYTES / LINE_RATE_BPS)

typedef struct {
  uint64_t leaves_ns;  /* leaves the queue */
  uint64_t arrives_ns; /* reaches the receiver */
  char bytes[PACKET_BYTES];
} slot;

static slot path[SLOTS]; /* packets of queue and delay, in order */

void run_bottleneck(const loopback_settings *settings, const endpoint *own, const endpoint *receiver,
                    bottleneck_report *report) {
  uint64_t first = 0U, next = 0U, free_ns = 0U; /* number of the oldest and of the next packet; end of service */
  uint32_t random = settings->seed;

  (void)memset(report, 0, sizeof *report);
  for (;;) {
    struct pollfd ready = {own->socket, POLLIN, 0};
    const uint64_t before = clock_ns();
    char bytes[PACKET_BYTES];
    packet_head head;
    int wait_ms = 1000;

    if (first != next) {
      const uint64_t due = path[first % SLOTS].arrives_ns;

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
      report->packets += 1U;
      report->queue_bytes_sum += queued;
      report->queue_kib[((queued < QUEUE_BYTES) ? queued : QUEUE_BYTES) >> 10U] += 1U;
      random = random * 1664525U + 1013904223U;
      if (((uint64_t)random * 1000000U >> 32U) < settings->loss_ppm) {
        report->lost += 1U;
      } else if ((queued + PACKET_BYTES > QUEUE_BYTES) || (next - first == SLOTS)) {
        report->dropped += 1U;
      } else {
        slot *const place = &path[next % SLOTS];

        head.marked = (uint32_t)(queued > MARK_BYTES);
        report->marked += head.marked;
        free_ns = now + queued_ns + PACKET_NS;
        place->arrives_ns = free_ns + BASE_RTT_NS;
        (void)memcpy(place->bytes, bytes, sizeof bytes);
        (void)memcpy(place->bytes, &head, sizeof head);
        next += 1U;
      }
    }
    while ((first != next) && (path[first % SLOTS].arrives_ns <= clock_ns())) {
      (void)sendto(own->socket, path[first % SLOTS].bytes, PACKET_BYTES, 0, (const struct sockaddr *)&receiver->address,
                   sizeof receiver->address);
      first += 1U;
    }
  }
}

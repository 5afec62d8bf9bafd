/* Rounds of events: see virtual_time.h, and loopback.h for the clocks. */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "virtual_time.h"

#define BURST 64U /* packets */

/* A clock that is not back is sent again, so often. */
#define REPEAT_MS 20
#define REPEATS 500U

static void send_bytes(const virtual_time *time, const packet_head *head) {
  char bytes[PACKET_BYTES] = {0};

  (void)memcpy(bytes, head, sizeof *head);
  (void)sendto(time->own->socket, bytes, sizeof bytes, 0, (const struct sockaddr *)&time->to->address,
               sizeof time->to->address);
}

static void send_clock(virtual_time *time, uint64_t now) {
  time->clock.sent_ns = now;
  time->clock.sequence += 1U;
  time->burst = 0U;
  send_bytes(time, &time->clock);
}

/* Takes acknowledgements until a clock is back. */
static int await_clock(virtual_time *time, uint32_t number) {
  struct pollfd ready = {time->own->socket, POLLIN, 0};
  uint32_t repeats = 0U;

  while (time->clocks_back < number) {
    packet_head head;

    if (poll(&ready, 1U, REPEAT_MS) == 0) {
      if (++repeats > REPEATS) {
        (void)fprintf(stderr, "loopback: the path does not answer\n");
        return 1;
      }
      send_bytes(time, &time->clock);
    } else if (recv(time->own->socket, &head, sizeof head, MSG_DONTWAIT) == (ssize_t)sizeof head) {
      repeats = 0U;
      if (head.flow == CLOCK) {
        time->clocks_back = head.sequence;
      } else if ((head.arrives_ns >= time->now_ns) && (head.arrives_ns > time->newest_ns) &&
                 (time->came - time->handled < EARLY)) {
        time->early[time->came++ % EARLY] = head;
        time->newest_ns = head.arrives_ns;
      } /* or it came behind a later one: lost */
    }
  }
  return 0;
}

void start_time(virtual_time *time, const endpoint *own, const endpoint *to) {
  (void)memset(time, 0, sizeof *time);
  time->own = own;
  time->to = to;
  time->now_ns = START_NS;
  time->clock.flow = CLOCK;
  time->begin_ns = clock_ns();
  end_round(time, START_NS);
}

int begin_round(virtual_time *time) { return await_clock(time, time->previous); }

void end_round(virtual_time *time, uint64_t end) {
  time->previous = time->ended;
  send_clock(time, end);
  time->ended = time->clock.sequence;
}

int end_run(virtual_time *time) { return await_clock(time, time->ended); }

void reach(virtual_time *time, uint64_t due) {
  const uint64_t real_ns = time->begin_ns + (due - START_NS);
  uint64_t now;

  for (now = clock_ns(); now < real_ns; now = clock_ns()) {
    const uint64_t left_ns = real_ns - now;
    const struct timespec left = {(time_t)(left_ns / 1000000000U), (long)(left_ns % 1000000000U)};

    (void)nanosleep(&left, NULL);
  }
  time->late_ns_max = (now - real_ns > time->late_ns_max) ? now - real_ns : time->late_ns_max;
  time->now_ns = due;
}

int send_head(virtual_time *time, const packet_head *head) {
  send_bytes(time, head);
  if (++time->burst < BURST) {
    return 0;
  }
  send_clock(time, time->now_ns);
  return await_clock(time, time->clock.sequence);
}

const packet_head *next_acknowledgement(const virtual_time *time) {
  return (time->handled != time->came) ? &time->early[time->handled % EARLY] : NULL;
}

void take_acknowledgement(virtual_time *time) { time->handled += 1U; }

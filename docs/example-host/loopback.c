/* NSCC over UDP loopback: a sender, a bottleneck and a receiver, a process each; no privilege.
 *
 *     cc -std=c99 -O2 -I FIRMWARE loopback.c bottleneck.c sender.c virtual_time.c -o loopback
 *     ./loopback MODE FLOWS SECONDS LOSS_PPM SEED [LOG]     MODE: observe or enforce
 *
 * Prints a figure a line: its name and value. The arguments alone decide them, but for late_us_max.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loopback.h"
#include "rlcc_host.h"

#define MAX_SECONDS 600U
#define SILENCE_S 10 /* a process ends that has received nothing for this time */

uint64_t clock_ns(void) {
  struct timespec t;

  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return 1000000000ULL * (uint64_t)t.tv_sec + (uint64_t)t.tv_nsec;
}

uint32_t draw(uint32_t *random) { return *random = *random * 1664525U + 1013904223U; }

static endpoint open_endpoint(void) {
  endpoint made = {socket(AF_INET, SOCK_DGRAM, 0), {0}};
  socklen_t length = sizeof made.address;
  const int room = 1 << 20;
  const struct timeval silence = {SILENCE_S, 0};

  made.address.sin_family = AF_INET;
  made.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  (void)setsockopt(made.socket, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  (void)setsockopt(made.socket, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof silence);
  if ((made.socket < 0) || (bind(made.socket, (struct sockaddr *)&made.address, length) != 0) ||
      (getsockname(made.socket, (struct sockaddr *)&made.address, &length) != 0)) {
    perror("loopback: no UDP socket on 127.0.0.1");
    exit(EXIT_FAILURE);
  }
  return made;
}

int receive(const endpoint *own, char *bytes) {
  ssize_t length;

  do {
    length = recv(own->socket, bytes, PACKET_BYTES, 0);
  } while ((length < 0) && (errno == EINTR)); /* the process was stopped, and goes on */
  return length == (ssize_t)PACKET_BYTES;
}

static void run_receiver(const endpoint *own, const endpoint *sender) {
  char bytes[PACKET_BYTES];
  packet_head head;

  while (receive(own, bytes)) {
    (void)memcpy(&head, bytes, sizeof head);
    if (head.flow == END_OF_RUN) {
      return;
    }
    (void)sendto(own->socket, &head, sizeof head, 0, (const struct sockaddr *)&sender->address, sizeof sender->address);
  }
}

static void stop(const endpoint *own, const endpoint *other) {
  const packet_head head = {0U, 0U, END_OF_RUN, 0U, 0U, 0U};
  char bytes[PACKET_BYTES] = {0};

  (void)memcpy(bytes, &head, sizeof head);
  (void)sendto(own->socket, bytes, sizeof bytes, 0, (const struct sockaddr *)&other->address, sizeof other->address);
}

/* Stops both children, as often as it takes: a datagram may be lost. Returns 0 where both ended well. */
static int stop_all(const endpoint *own, const endpoint *bottleneck, const endpoint *receiver) {
  const struct timespec pause = {0, 20000000};
  int attempt, status, running = 2, failed = 0;

  for (attempt = 0; (attempt < 250) && (running > 0); attempt++) {
    stop(own, bottleneck);
    stop(own, receiver);
    (void)nanosleep(&pause, NULL);
    while (waitpid(-1, &status, WNOHANG) > 0) {
      running -= 1;
      failed |= (status != 0);
    }
  }
  return failed | running;
}

static void print_report(const sender_report *sent, const bottleneck_report *report) {
  const uint64_t found = (report->found != 0U) ? report->found : 1U;
  uint64_t seen = 0U;
  uint32_t kib = 0U;

  while ((kib < (QUEUE_BYTES >> 10U)) && ((seen + report->queue_kib[kib]) * 100U < found * 99U)) {
    seen += report->queue_kib[kib++];
  }
  (void)printf("packets %" PRIu64 "\nmarked %" PRIu64 "\nlost %" PRIu64 "\ndropped %" PRIu64 "\n", report->packets,
               report->marked, report->lost, report->dropped);
  (void)printf("datagrams_lost %" PRIu64 "\n",
               (sent->packets - report->packets) + (report->forwarded - sent->acknowledgements));
  (void)printf("queue_mean_bytes %" PRIu64 "\nqueue_p99_kib %" PRIu32 "\n", report->queue_bytes_sum / found, kib);
}

static int number(const char *text, uint32_t low, uint32_t high, uint32_t *value) {
  char *end;
  const unsigned long read = strtoul(text, &end, 10);

  *value = (uint32_t)read;
  return (end != text) && (*end == '\0') && (text[0] != '-') && (read >= low) && (read <= high);
}

int main(int argc, char **argv) {
  loopback_settings settings = {0U, 0U, RLCC_HOST_ENFORCE, 65536U, 0U, 0U, NULL};
  sender_report sent = {0U, 0U};
  bottleneck_report report;
  endpoint sender, bottleneck, receiver;
  int reports[2], failed;
  pid_t children[2];

  if ((argc < 6) || (argc > 7) || ((strcmp(argv[1], "observe") != 0) && (strcmp(argv[1], "enforce") != 0)) ||
      !number(argv[2], 1U, MAX_FLOWS, &settings.flows) || !number(argv[3], 1U, MAX_SECONDS, &settings.seconds) ||
      !number(argv[4], 0U, 1000000U, &settings.loss_ppm) || !number(argv[5], 0U, UINT32_MAX, &settings.seed)) {
    (void)fprintf(stderr, "usage: loopback observe|enforce FLOWS SECONDS LOSS_PPM SEED [LOG]; at most %u flows, %u s\n",
                  MAX_FLOWS, MAX_SECONDS);
    return 2;
  }
  settings.mode = (strcmp(argv[1], "observe") == 0) ? RLCC_HOST_OBSERVE : RLCC_HOST_ENFORCE;
  settings.seed *= 2654435769U; /* seeds that are near draw numbers that are not */
  settings.log = (argc == 7) ? argv[6] : NULL;
  sender = open_endpoint();
  bottleneck = open_endpoint();
  receiver = open_endpoint();
  if (pipe(reports) != 0) {
    perror("loopback: no pipe");
    return EXIT_FAILURE;
  }

  children[0] = fork();
  if (children[0] == 0) {
    run_bottleneck(&settings, &bottleneck, &receiver, &report);
    _exit((write(reports[1], &report, sizeof report) == (ssize_t)sizeof report) ? 0 : 1);
  }
  children[1] = fork();
  if (children[1] == 0) {
    run_receiver(&receiver, &sender);
    _exit(0);
  }
  (void)close(reports[1]);
  failed = (children[0] < 0) || (children[1] < 0) || run_sender(&settings, &sender, &bottleneck, &sent);
  failed |= stop_all(&sender, &bottleneck, &receiver);
  if (read(reports[0], &report, sizeof report) == (ssize_t)sizeof report) {
    print_report(&sent, &report);
  } else {
    failed = 1;
  }
  return failed ? EXIT_FAILURE : 0;
}

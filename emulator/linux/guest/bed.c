/* bed.c - what runs inside the guest beside the kernel under test: a sink, a sender that also samples, and the way out.
 *
 *   bed sink PORT CONGESTION      takes every connection, throws away what comes, closes when the sender has closed
 *   bed send ADDRESS PORT FLOWS RUN_US SAMPLE_US FLOW_SAMPLE_US NETNS DEVICE
 *   bed out FILE                  copies FILE to the debug console (port 0xe9), which the host reads
 *
 * FLOWS has a line a flow: start_us bytes period_us congestion. bytes 0: unlimited. With a period the flow comes back,
 * as a new connection, every period. The sender prints lines, times in us since it began:
 *   Q t backlog_bytes drops marks sent_packets        of DEVICE in NETNS, every SAMPLE_US
 *   F t flow srtt bytes_acked retransmits pacing_Bps cwnd sent acks    of each open flow, every FLOW_SAMPLE_US
 *   C flow start finish bytes                         a flow that was acknowledged to its end
 *   X flow errno                                      a connection that failed
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/io.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* UNSENT: bytes that a flow keeps ready; a hundred full socket buffers would take the guest 0.2 s to fill. */
enum { PIECE = 65536, UNSENT = 16384, EVENTS = 256, MOST_FLOWS = 1 << 16, NAME = 16, DEBUG_PORT = 0xe9 };

typedef struct {
  uint64_t start_us, period_us, next_us;
  uint64_t bytes, left, began_us;
  char congestion[NAME];
  int socket; /* -1: none is open */
} flow;

static char piece[PIECE];

static void fail(const char *what) {
  printf("E %s: %s\n", what, strerror(errno));
  fflush(stdout);
  exit(1);
}

static uint64_t now_us(void) {
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000U + (uint64_t)t.tv_nsec / 1000U;
}

/* --- the sink ---------------------------------------------------------------------------------------------------- */

static int sink(uint16_t port, const char *congestion) {
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(port)};
  struct epoll_event event = {.events = EPOLLIN}, ready[EVENTS];
  const int listening = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), all = epoll_create1(0), yes = 1;

  setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (setsockopt(listening, IPPROTO_TCP, TCP_CONGESTION, congestion, (socklen_t)strlen(congestion))) {
    fail(congestion);
  }
  if (bind(listening, (struct sockaddr *)&here, sizeof here) || listen(listening, 4096)) {
    fail("sink");
  }
  event.data.fd = listening;
  epoll_ctl(all, EPOLL_CTL_ADD, listening, &event);
  for (;;) {
    const int count = epoll_wait(all, ready, EVENTS, -1);

    for (int i = 0; i < count; i++) {
      const int fd = ready[i].data.fd;

      if (fd == listening) {
        for (int made; (made = accept4(listening, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
          event.data.fd = made;
          epoll_ctl(all, EPOLL_CTL_ADD, made, &event);
        }
      } else { /* MSG_TRUNC: the kernel throws it away, nothing is copied */
        const ssize_t taken = recv(fd, NULL, 1 << 20, MSG_TRUNC | MSG_DONTWAIT);

        if (taken == 0 || (taken < 0 && errno != EAGAIN)) {
          close(fd);
        }
      }
    }
  }
}

/* --- the queue's counters, by netlink
 * --------------------------------------------------------------------------------- */

typedef struct {
  int socket, device;
} queue;

static int in_namespace(const char *name, int *back) {
  char path[64];

  snprintf(path, sizeof path, "/run/netns/%s", name);
  *back = open("/proc/self/ns/net", O_RDONLY);
  const int there = open(path, O_RDONLY);
  return there < 0 ? -1 : setns(there, CLONE_NEWNET);
}

static queue open_queue(const char *name, const char *device) {
  int back;
  queue opened;

  if (in_namespace(name, &back)) {
    fail(name);
  }
  opened.socket = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
  opened.device = (int)if_nametoindex(device);
  if (opened.socket < 0 || opened.device == 0 || setns(back, CLONE_NEWNET)) {
    fail(device);
  }
  return opened;
}

static const struct rtattr *attribute(const struct rtattr *at, int length, unsigned short type) {
  for (; RTA_OK(at, length); at = RTA_NEXT(at, length)) {
    if ((at->rta_type & 0x3fff) == type) {
      return at;
    }
  }
  return NULL;
}

/* The shaper (tbf) counts what waits and what was dropped below it too; marks are its child's (red). */
static void sample_queue(queue q, uint64_t t) {
  static char answer[1 << 16];
  static uint32_t serial;
  struct {
    struct nlmsghdr head;
    struct tcmsg tc;
  } ask = {{sizeof ask, RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP, ++serial, 0}, {.tcm_family = AF_UNSPEC}};
  uint32_t backlog = 0, drops = 0, marks = 0, packets = 0;
  int more = 1;

  ask.tc.tcm_ifindex = q.device;
  if (send(q.socket, &ask, sizeof ask, 0) < 0) {
    fail("netlink");
  }
  while (more) {
    int length = (int)recv(q.socket, answer, sizeof answer, 0);

    if (length <= 0) {
      fail("netlink");
    }
    for (const struct nlmsghdr *m = (void *)answer; NLMSG_OK(m, (unsigned)length); m = NLMSG_NEXT(m, length)) {
      const struct tcmsg *tc = NLMSG_DATA(m);
      const struct rtattr *first = (const void *)((const char *)tc + NLMSG_ALIGN(sizeof *tc));
      const int size = (int)(m->nlmsg_len - NLMSG_LENGTH(sizeof *tc));

      if (m->nlmsg_type == NLMSG_DONE || m->nlmsg_type == NLMSG_ERROR) {
        more = 0;
        break;
      }
      if (tc->tcm_ifindex != q.device) {
        continue;
      }
      const struct rtattr *kind = attribute(first, size, TCA_KIND), *s = attribute(first, size, TCA_STATS2);

      if (kind && s && !strcmp(RTA_DATA(kind), "tbf")) {
        const struct rtattr *waiting = attribute(RTA_DATA(s), (int)RTA_PAYLOAD(s), TCA_STATS_QUEUE);
        const struct rtattr *sent = attribute(RTA_DATA(s), (int)RTA_PAYLOAD(s), TCA_STATS_BASIC);
        const struct gnet_stats_queue *w = RTA_DATA(waiting);

        backlog = w->backlog;
        drops = w->drops;
        memcpy(&packets, (const char *)RTA_DATA(sent) + 8, sizeof packets);
      } else if (kind && s && !strcmp(RTA_DATA(kind), "red")) {
        const struct rtattr *own = attribute(RTA_DATA(s), (int)RTA_PAYLOAD(s), TCA_STATS_APP);

        marks = own ? ((const struct tc_red_xstats *)RTA_DATA(own))->marked : 0;
      }
    }
  }
  printf("Q %llu %u %u %u %u\n", (unsigned long long)t, backlog, drops, marks, packets);
}

/* --- the sender --------------------------------------------------------------------------------------------------- */

static flow *read_flows(const char *path, int *count) {
  FILE *file = fopen(path, "r");
  flow *flows = calloc(MOST_FLOWS, sizeof *flows), f = {0};
  unsigned long long start, bytes, period;

  if (!file || !flows) {
    fail(path);
  }
  for (*count = 0;
       *count < MOST_FLOWS && fscanf(file, "%llu %llu %llu %15s", &start, &bytes, &period, f.congestion) == 4;) {
    f.start_us = f.next_us = start;
    f.bytes = bytes;
    f.period_us = period;
    f.socket = -1;
    flows[(*count)++] = f;
  }
  fclose(file);
  return flows;
}

static void begin(flow *f, int number, int all, const struct sockaddr_in *there, uint64_t t) {
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.fd = number};
  const int unsent = UNSENT;

  f->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  f->began_us = t;
  f->left = f->bytes;
  if (f->socket < 0) {
    fail("socket");
  }
  if (setsockopt(f->socket, IPPROTO_TCP, TCP_CONGESTION, f->congestion, (socklen_t)strlen(f->congestion))) {
    fail(f->congestion);
  }
  setsockopt(f->socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
  if (connect(f->socket, (const struct sockaddr *)there, sizeof *there) && errno != EINPROGRESS) {
    fail("connect");
  }
  epoll_ctl(all, EPOLL_CTL_ADD, f->socket, &event);
}

static void end(flow *f) {
  close(f->socket);
  f->socket = -1;
}

/* Writes until the socket takes no more; closes its half after the last byte; is done when the sink has closed its own.
 */
static void serve(flow *f, int number, uint32_t events, uint64_t origin) {
  int error = 0;
  socklen_t size = sizeof error;

  if ((events & (EPOLLERR | EPOLLHUP)) && !getsockopt(f->socket, SOL_SOCKET, SO_ERROR, &error, &size) && error) {
    printf("X %d %d\n", number, error);
    end(f);
    return;
  }
  while (f->bytes == 0 || f->left > 0) {
    const size_t wanted = (f->bytes == 0 || f->left > PIECE) ? PIECE : f->left;
    const ssize_t written = send(f->socket, piece, wanted, MSG_NOSIGNAL);

    if (written < 0) {
      break;
    }
    f->left -= f->bytes ? (uint64_t)written : 0;
    if (f->bytes && f->left == 0) {
      shutdown(f->socket, SHUT_WR);
    }
  }
  if (f->bytes && f->left == 0 && (events & EPOLLIN)) {
    char byte;

    if (recv(f->socket, &byte, 1, 0) == 0) {
      printf("C %d %llu %llu %llu\n", number, (unsigned long long)(f->began_us - origin),
             (unsigned long long)(now_us() - origin), (unsigned long long)f->bytes);
      end(f);
    }
  }
}

static void sample_flows(const flow *flows, int count, uint64_t t) {
  for (int i = 0; i < count; i++) {
    struct tcp_info info;
    socklen_t size = sizeof info;

    if (flows[i].socket >= 0 && !getsockopt(flows[i].socket, IPPROTO_TCP, TCP_INFO, &info, &size)) {
      printf("F %llu %d %u %llu %u %llu %u %u %u\n", (unsigned long long)t, i, info.tcpi_rtt,
             (unsigned long long)info.tcpi_bytes_acked, info.tcpi_total_retrans,
             (unsigned long long)info.tcpi_pacing_rate, info.tcpi_snd_cwnd, info.tcpi_data_segs_out, info.tcpi_segs_in);
    }
  }
}

static int send_all(char **a) {
  struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(a[1]))};
  const uint64_t run_us = strtoull(a[3], NULL, 10), every = strtoull(a[4], NULL, 10),
                 flows_every = strtoull(a[5], NULL, 10);
  const int all = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = -1}, ready[EVENTS];
  const struct rlimit files = {MOST_FLOWS, MOST_FLOWS};
  const queue q = open_queue(a[6], a[7]);
  int count;
  flow *flows = read_flows(a[2], &count);

  inet_pton(AF_INET, a[0], &there.sin_addr);
  setrlimit(RLIMIT_NOFILE, &files);
  epoll_ctl(all, EPOLL_CTL_ADD, timer, &event);
  const uint64_t origin = now_us();
  uint64_t sample_us = 0, sample_flows_us = flows_every;

  for (uint64_t t = 0; t <= run_us; t = now_us() - origin) {
    uint64_t next = sample_us < sample_flows_us ? sample_us : sample_flows_us;

    for (int i = 0; i < count; i++) {
      flow *f = &flows[i];

      if (f->next_us <= t && f->socket < 0) { /* one that is late waits for its last time's end */
        f->next_us = f->period_us ? f->next_us + f->period_us : UINT64_MAX;
        begin(f, i, all, &there, now_us());
      }
      next = (f->socket < 0 && f->next_us < next) ? f->next_us : next;
    }
    if (sample_us <= t) {
      sample_queue(q, t);
      sample_us += every;
    }
    if (sample_flows_us <= t) {
      sample_flows(flows, count, t);
      sample_flows_us += flows_every;
    }
    const uint64_t at = origin + (next > t ? next : t + 1);
    const struct itimerspec when = {{0, 0}, {(time_t)(at / 1000000U), (long)(at % 1000000U) * 1000}};

    timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
    const int got = epoll_wait(all, ready, EVENTS, -1);
    for (int i = 0; i < got; i++) {
      const int number = ready[i].data.fd;

      if (number >= 0 && flows[number].socket >= 0) {
        serve(&flows[number], number, ready[i].events, origin);
      }
    }
  }
  puts("D");
  return 0;
}

/* --- out ---------------------------------------------------------------------------------------------------------- */

static int out(const char *path) {
  FILE *file = fopen(path, "r");

  if (!file || ioperm(DEBUG_PORT, 1, 1)) {
    fail(path);
  }
  for (size_t got; (got = fread(piece, 1, PIECE, file)) > 0;) {
    for (size_t i = 0; i < got; i++) {
      outb((unsigned char)piece[i], DEBUG_PORT);
    }
  }
  return 0;
}

int main(int count, char **arguments) {
  signal(SIGPIPE, SIG_IGN);
  if (count == 4 && !strcmp(arguments[1], "sink")) {
    return sink((uint16_t)atoi(arguments[2]), arguments[3]);
  }
  if (count == 10 && !strcmp(arguments[1], "send")) {
    return send_all(arguments + 2);
  }
  if (count == 3 && !strcmp(arguments[1], "out")) {
    return out(arguments[2]);
  }
  return 2;
}

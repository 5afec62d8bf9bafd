/* What the processes of the example share: settings, packets, clock.
 *
 *     sender --UDP--> bottleneck --UDP--> receiver --UDP--> sender
 *
 * Time is virtual. The sender handles each event at the time at which it is due, in order, once the real clock has come
 * to it: a process that runs late, by up to 10 s, delays the run and changes nothing in it.
 *
 * CLOCK heads keep the order. One says that no packet sent before its sent_ns follows, and goes round behind the
 * packets. When it is back, the sender has every acknowledgement that arrives within BASE_RTT_NS after that time.
 */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include <netinet/in.h>
#include <stdint.h>

#define PACKET_BYTES 1024U
#define MAX_FLOWS 64U
#define LINE_RATE_BPS 80000000U

/* The path alone, a packet's time on the line, and both. */
#define DELAY_NS 4000000U
#define PACKET_NS (8000000000ULL * PACKET_BYTES / LINE_RATE_BPS)
#define BASE_RTT_NS 4102400U

/* bytes: queue of the bottleneck, and NSCC's marks of it: 0.2 and 0.8 BDP */
#define QUEUE_BYTES 120000U
#define MARK_MIN_BYTES 8204U
#define MARK_MAX_BYTES 32816U

/* ns, virtual: start of the run. The 32 bits of ns that the header gets wrap 0.4 s later. */
#define START_NS 3900000000ULL

/* ns, virtual: end of the run's first quarter, from which on figures count. */
#define SETTLED_NS(settings) (START_NS + 250000000ULL * (settings)->seconds)

/* Heads that are not of a flow: one keeps the order of events, one stops bottleneck and receiver. */
#define CLOCK 0xFFFFFFFEU
#define END_OF_RUN 0xFFFFFFFFU

/* Head of a packet and the whole of its acknowledgement, host byte order. */
typedef struct {
  uint64_t sent_ns;    /* virtual time */
  uint64_t arrives_ns; /* virtual time: when the acknowledgement is due, as a NIC's timestamp */
  uint32_t flow;       /* 0..MAX_FLOWS - 1, CLOCK or END_OF_RUN */
  uint32_t sequence;   /* of the flow's packets, or of the clocks */
  uint32_t marked;
  uint32_t unused;
} packet_head;

typedef struct {
  uint32_t flows;
  uint32_t seconds;
  uint32_t mode;         /* RLCC_HOST_OFF, RLCC_HOST_OBSERVE or RLCC_HOST_ENFORCE */
  uint32_t fixed_window; /* bytes a flow, where the mode does not enforce */
  uint32_t loss_ppm;     /* packets in a million that the path loses */
  uint32_t seed;         /* of starts, losses and marks */
  const char *log;       /* file of calls, or NULL */
} loopback_settings;

/* What the bottleneck saw. The queue is as arriving packets found it, but for the run's first quarter. */
typedef struct {
  uint64_t packets;
  uint64_t marked;
  uint64_t lost;      /* injected */
  uint64_t dropped;   /* the queue was full */
  uint64_t forwarded; /* to the receiver */
  uint64_t found;     /* packets that the queue was counted for */
  uint64_t queue_bytes_sum;
  uint32_t queue_kib[1U + (QUEUE_BYTES >> 10U)];
} bottleneck_report;

/* What the sender sent and got back; more sends or forwards than came are datagrams that the system lost. */
typedef struct {
  uint64_t packets;
  uint64_t acknowledgements;
} sender_report;

typedef struct {
  int socket;
  struct sockaddr_in address;
} endpoint;

/* The real clock: ns since some start, never back. */
uint64_t clock_ns(void);

/* Waits for a datagram of PACKET_BYTES. Returns whether one came, in time. */
int receive(const endpoint *own, char *bytes);

/* Returns the next of a sequence of pseudo-random numbers. */
uint32_t draw(uint32_t *random);

/* Runs until END_OF_RUN comes; forwards to receiver. */
void run_bottleneck(const loopback_settings *settings, const endpoint *own, const endpoint *receiver,
                    bottleneck_report *report);

/* Sends for settings->seconds and prints what came of it. Returns 0, or 1 where a file cannot be written or the path
 * does not answer. */
int run_sender(const loopback_settings *settings, const endpoint *own, const endpoint *bottleneck,
               sender_report *report);

#endif

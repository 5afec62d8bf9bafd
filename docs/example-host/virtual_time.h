/* The sender's time: rounds of events that are handled when they are due, whenever the processes run.
 *
 *     begin_round(&time)             each acknowledgement of this round has come
 *     reach(&time, due)              before each event, in order; time.now_ns is then `due`
 *     send_head(&time, &head)        a packet, sent at time.now_ns
 *     end_round(&time, end)          a clock goes round behind the packets
 */
#ifndef VIRTUAL_TIME_H
#define VIRTUAL_TIME_H

#include "loopback.h"

/* ns: two are shorter than BASE_RTT_NS, so that a clock has a round to come back in. */
#define ROUND_NS 2000000U

/* Acknowledgements that are not due: more than the line sends in BASE_RTT_NS and a round. */
#define EARLY 128U

typedef struct {
  const endpoint *own, *to;
  uint64_t begin_ns;        /* the real clock at START_NS */
  uint64_t now_ns;          /* virtual time of the event that is handled */
  uint64_t late_ns_max;     /* real time by which it was late, at most */
  packet_head clock;        /* the last one that was sent */
  uint32_t ended, previous; /* numbers of the clocks of the last round and of the one before it */
  uint32_t clocks_back;     /* number of the last clock that came back */
  uint32_t burst;           /* packets since the last clock was sent */
  packet_head early[EARLY];
  uint64_t came, handled; /* numbers of the next acknowledgement to come and of the next to be handled */
  uint64_t newest_ns;     /* when the last that came is due */
} virtual_time;

/* Functions that return int return 0, or 1 where the path does not answer. */

void start_time(virtual_time *time, const endpoint *own, const endpoint *to);
int begin_round(virtual_time *time);
void end_round(virtual_time *time, uint64_t end);

/* Waits for all acknowledgements of packets that left the bottleneck's queue. */
int end_run(virtual_time *time);

void reach(virtual_time *time, uint64_t due);

/* Waits for a clock after each burst, for sockets to have room. */
int send_head(virtual_time *time, const packet_head *head);

/* Returns the acknowledgement that is due next, or NULL; take_acknowledgement drops it. */
const packet_head *next_acknowledgement(const virtual_time *time);
void take_acknowledgement(virtual_time *time);

#endif

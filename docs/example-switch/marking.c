/* marking.c - the loop over a switch's ports and classes; see marking.h. */
#include "marking.h"

/* What a counter gained, as the event holds it: what does not fit into 32 bits is the most that does. */
static uint32_t gained(uint64_t now, uint64_t before) {
  const uint64_t more = now - before;
  return more > UINT32_MAX ? UINT32_MAX : (uint32_t)more;
}

/* Idle: not above its Kmin for so long that asking it is a waste of the CPU ([ACC] section 4.2). */
static int is_idle(marking_queue *queue, uint32_t queue_bytes) {
  if (MARKING_IDLE_AFTER == 0U)
    return 0;
  if (queue_bytes > queue->in_force.kmin_bytes)
    queue->busy = MARKING_IDLE_AFTER;
  else if (queue->busy > 0U)
    --queue->busy;
  return queue->busy == 0U;
}

void marking_begin(marking_switch *self, const uint32_t gbps[MARKING_PORTS], uint32_t period_us) {
  static const marking_queue fresh;
  for (uint32_t port = 0; port < MARKING_PORTS; ++port) {
    self->params[port].capacity_bytes = gbps[port] * period_us * 125U;
    for (uint32_t klass = 0; klass < MARKING_CLASSES; ++klass) {
      self->queue[port][klass] = fresh;
      self->queue[port][klass].busy = MARKING_IDLE_AFTER + 1U; /* asked at first, whatever is in it */
      marking_read(port, klass, &self->queue[port][klass].last);
    }
  }
}

uint32_t marking_period(marking_switch *self) {
  uint32_t changed = 0;
  for (uint32_t port = 0; port < MARKING_PORTS; ++port) {
    for (uint32_t klass = 0; klass < MARKING_CLASSES; ++klass) {
      marking_queue *queue = &self->queue[port][klass];
      marking_counters now;
      marking_read(port, klass, &now);
      const rlcc_event event = {
          .queue_bytes = now.queue_bytes,
          .sent_bytes = gained(now.sent_bytes, queue->last.sent_bytes),
          .marked_bytes = gained(now.marked_bytes, queue->last.marked_bytes),
      };
      queue->last = now;
      if (is_idle(queue, now.queue_bytes))
        continue;
      ++self->asked;
      rlcc_action action;
      rlcc_decide(&queue->context, &event, &self->params[port], &action);
      if (action.kmin_bytes == queue->in_force.kmin_bytes && action.kmax_bytes == queue->in_force.kmax_bytes &&
          action.pmax_q16 == queue->in_force.pmax_q16)
        continue; /* a write to the forwarding chip costs more than a decision */
      queue->in_force = action;
      marking_write(port, klass, &action);
      ++changed;
    }
  }
  return changed;
}

/* A stand-in for a device of one's own: hands out a list of events, takes note of the rates. */
#include <stdint.h>

#include "rlcc_policy.h"

typedef struct {
    uint32_t flow, is_new;
    rlcc_event raw;
} device_event;

const device_event *loop_events;
uint32_t loop_count;
uint32_t *loop_rates;
static uint32_t loop_next, loop_set;

int32_t device_wait(device_event *event);
void device_set_rate(uint32_t flow, uint32_t rate_q20);

int32_t device_wait(device_event *event)
{
    if (loop_next == loop_count) {
        return 0;
    }
    *event = loop_events[loop_next++];
    return 1;
}

uint32_t loop_late; /* answers that a flow goes on counting through */

void device_go_on_counting(uint32_t flow);

void device_go_on_counting(uint32_t flow)
{
    (void)flow;
    loop_late++;
}

void device_set_rate(uint32_t flow, uint32_t rate_q20)
{
    (void)flow;
    loop_rates[loop_set++] = rate_q20;
}

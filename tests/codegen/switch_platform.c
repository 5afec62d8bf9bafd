/* A platform for docs/example-switch: counters that follow from the period, the port and the class, and a second set of
 * contexts that decides queue by queue, from events made by hand, what the loop has to write. */
#include <stdio.h>
#include <string.h>

#include "marking.h"

enum { PERIODS = 40 };

static uint32_t period, wrong, asked;
static uint32_t calm[MARKING_PORTS][MARKING_CLASSES]; /* periods without more than Kmin since the first */
static rlcc_action written[MARKING_PORTS][MARKING_CLASSES], before[MARKING_PORTS][MARKING_CLASSES];

static uint32_t drawn(uint32_t port, uint32_t klass, uint32_t at, uint32_t below) {
    uint32_t x = (at * 64U + port) * 8U + klass + 1U;
    x *= 2654435761U;
    x ^= x >> 15;
    x *= 2246822519U;
    return (x ^ (x >> 13)) % below;
}

static rlcc_event event_of(uint32_t port, uint32_t klass, uint32_t at) {
    const rlcc_event event = {drawn(port, klass, 3U * at, 400000U), drawn(port, klass, 3U * at + 1U, 156250U),
                              drawn(port, klass, 3U * at + 2U, 156250U)};
    return event;
}

void marking_read(uint32_t port, uint32_t klass, marking_counters *now) {
    now->sent_bytes = UINT64_MAX - 1000000U; /* wraps on the way */
    now->marked_bytes = port;
    now->queue_bytes = 0;
    for (uint32_t at = 1; at <= period; ++at) {
        const rlcc_event event = event_of(port, klass, at);
        now->sent_bytes += event.sent_bytes;
        now->marked_bytes += event.marked_bytes;
        now->queue_bytes = event.queue_bytes;
    }
}

void marking_write(uint32_t port, uint32_t klass, const rlcc_action *thresholds) {
    wrong += memcmp(&written[port][klass], thresholds, sizeof *thresholds) == 0; /* it had these already */
    written[port][klass] = *thresholds;
}

int main(void) {
    static marking_switch all;
    static rlcc_queue apart[MARKING_PORTS][MARKING_CLASSES];
    uint32_t gbps[MARKING_PORTS], changes = 0;
    for (uint32_t port = 0; port < MARKING_PORTS; ++port)
        gbps[port] = port < 40 ? 25 : 100;
    marking_begin(&all, gbps, 50);
    for (period = 1; period <= PERIODS; ++period) {
        memcpy(before, written, sizeof before);
        changes += marking_period(&all);
        for (uint32_t port = MARKING_PORTS; port-- > 0;) {
            for (uint32_t klass = 0; klass < MARKING_CLASSES; ++klass) {
                const rlcc_event event = event_of(port, klass, period);
                const rlcc_params params = {port < 40 ? 156250U : 625000U};
                if (period == 1 || event.queue_bytes > before[port][klass].kmin_bytes)
                    calm[port][klass] = 0;
                else if (calm[port][klass] != MARKING_IDLE_AFTER)
                    ++calm[port][klass];
                if (MARKING_IDLE_AFTER != 0U && calm[port][klass] == MARKING_IDLE_AFTER)
                    continue;
                ++asked;
                rlcc_action action;
                rlcc_decide(&apart[port][klass], &event, &params, &action);
                wrong += memcmp(&action, &written[port][klass], sizeof action) != 0;
            }
        }
    }
    wrong += all.asked != asked;
    printf("%u changes, %u asked, %u wrong\n", (unsigned)changes, (unsigned)asked, (unsigned)wrong);
    return wrong != 0;
}

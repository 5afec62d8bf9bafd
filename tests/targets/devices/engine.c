/* A stand-in for the ConnectX-6Dx engine's side: the integrator's rlcc_read_event(), over the one event in hand. */
#include "rl_algo_shim.h"

rlcc_event engine_event;
int32_t engine_is_response;
uint32_t device_in_flight; /* set last, where a build does */

int32_t rlcc_read_event(const mlnx_cc_algo_ctxt_t *ctxt, mlnx_cc_event_general_attr_t attr, rlcc_event *out)
{
    (void)ctxt, (void)attr;
    out->cnp_count = engine_event.cnp_count;
    out->nack_count = engine_event.nack_count;
    out->sent_bytes = engine_event.sent_bytes;
    out->queue_bytes = engine_event.queue_bytes;
#ifdef ENGINE_TELLS_ACKS
    out->acked_bytes = engine_event.acked_bytes;
    out->marked_bytes = engine_event.marked_bytes;
#endif
    if (engine_is_response != 0) {
        out->request_sent_ns = engine_event.request_sent_ns;
        out->response_ns = engine_event.response_ns;
#ifdef ENGINE_TELLS_RATE
        out->device_rate_q20 = engine_event.device_rate_q20;
#endif
    }
    return engine_is_response;
}

/* The result's bit fields in plain words, which ctypes might lay out otherwise than the compiler: rate, probe, the rest. */
void engine_call(mlnx_cc_algo_ctxt_t *ctxt, const uint32_t *global_memory, uint32_t *answer)
{
    const mlnx_cc_event_general_attr_t attr = {0U};
    mlnx_cc_results_t results = {0U, 1U, 63U, 0U, 7U};

    rl_algo(ctxt, attr, &results, global_memory);
    answer[0] = results.rate;
    answer[1] = results.rtt_req;
    answer[2] = results.credit_update | results.pad | results.credits;
}

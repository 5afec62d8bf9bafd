/* A stand-in for the ConnectX-6Dx engine's side: the integrator's rlcc_read_event(), over the one event in hand. */
#include "rl_algo_shim.h"

rlcc_event engine_event;
int32_t engine_is_response;

int32_t rlcc_read_event(const mlnx_cc_algo_ctxt_t *ctxt, mlnx_cc_event_general_attr_t attr, rlcc_event *out)
{
    (void)ctxt, (void)attr;
    out->cnp_count = engine_event.cnp_count;
    out->nack_count = engine_event.nack_count;
    out->sent_bytes = engine_event.sent_bytes;
    out->queue_bytes = engine_event.queue_bytes;
    if (engine_is_response != 0) {
        out->request_sent_ns = engine_event.request_sent_ns;
        out->response_ns = engine_event.response_ns;
    }
    return engine_is_response;
}

/* The result's bit fields in plain words, as a host's compiler lays them out otherwise than ctypes might. */
void engine_call(mlnx_cc_algo_ctxt_t *ctxt, const uint32_t *global_memory, uint32_t *rate, uint32_t *rtt_req)
{
    const mlnx_cc_event_general_attr_t attr = {0U};
    mlnx_cc_results_t results = {0U, 1U, 63U, 0U, 7U};

    rl_algo(ctxt, attr, &results, global_memory);
    *rate = (results.credit_update | results.pad | results.credits) != 0U ? 0U : results.rate;
    *rtt_req = results.rtt_req;
}

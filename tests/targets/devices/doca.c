/* A stand-in for the DOCA PCC device: answers the adapter's questions about the one event in hand, and takes note of
 * what the adapter registers. */
#include "doca_pcc_shim.h"

#include <stddef.h>

struct doca_pcc_dev_event {
    uint32_t type, subtype, port, request_sent_ns, response_ns, sent_32bytes, num_coalesced;
};

uint32_t *device_params, *device_counters; /* NULL: none */
uint32_t device_foreign_calls;
uint32_t device_owner;          /* of the event in hand, where a build asks */
uint32_t device_in_flight;      /* set last, where a build does */
uint32_t device_metadata[3];    /* algorithm, parameters, counters */
uint32_t device_param[30][3];   /* default, most, least */
uint32_t device_counter_count;
uint32_t device_slots[8][4];    /* port, slot, algorithm, enabled */
uint32_t device_slot_count;

void doca_pcc_dev_default_internal_algo(doca_pcc_dev_algo_ctxt_t *algo_ctxt, doca_pcc_dev_event_t *event,
                                        const doca_pcc_dev_attr_t *attr, doca_pcc_dev_results_t *results)
{
    (void)algo_ctxt, (void)event, (void)attr, (void)results;
    device_foreign_calls++;
}

doca_pcc_dev_event_general_attr_t doca_pcc_dev_get_ev_attr(doca_pcc_dev_event_t *event)
{
    return (doca_pcc_dev_event_general_attr_t){event->type & 0xFFU, event->subtype & 0xFFU, event->port & 0xFFU, 0U};
}

uint32_t doca_pcc_dev_get_timestamp(doca_pcc_dev_event_t *event) { return event->response_ns; }

uint32_t doca_pcc_dev_get_rtt_req_send_timestamp(doca_pcc_dev_event_t *event) { return event->request_sent_ns; }

doca_pcc_dev_roce_tx_cntrs_t doca_pcc_dev_get_roce_tx_cntrs(doca_pcc_dev_event_t *event)
{
    return (doca_pcc_dev_roce_tx_cntrs_t){event->sent_32bytes & 0xFFFFU, 1U};
}

doca_pcc_dev_ack_nack_cnp_extra_t doca_pcc_dev_get_ack_nack_cnp_extra(doca_pcc_dev_event_t *event)
{
    return (doca_pcc_dev_ack_nack_cnp_extra_t){event->num_coalesced & 0xFFFFU, 0U};
}

uint32_t *doca_pcc_dev_get_algo_params(uint32_t port_num, uint32_t algo_slot)
{
    (void)port_num, (void)algo_slot;
    return device_params;
}

uint32_t *doca_pcc_dev_get_counters(uint32_t port_num, uint32_t algo_slot)
{
    (void)port_num, (void)algo_slot;
    return device_counters;
}

void doca_pcc_dev_algo_init_metadata(uint32_t algo_idx, uint32_t algo_id, uint32_t major, uint32_t minor,
                                     uint32_t param_num, uint32_t counter_num, uint32_t desc_size, const char *desc)
{
    (void)algo_id, (void)major, (void)minor, (void)desc_size, (void)desc;
    device_metadata[0] = algo_idx;
    device_metadata[1] = param_num;
    device_metadata[2] = counter_num;
}

void doca_pcc_dev_algo_init_param(uint32_t algo_idx, uint32_t param_id, uint32_t default_value, uint32_t max_value,
                                  uint32_t min_value, uint32_t permission, uint32_t desc_size, const char *desc)
{
    (void)algo_idx, (void)permission, (void)desc_size, (void)desc;
    device_param[param_id][0] = default_value;
    device_param[param_id][1] = max_value;
    device_param[param_id][2] = min_value;
}

void doca_pcc_dev_algo_init_counter(uint32_t algo_idx, uint32_t counter_id, uint32_t max_value, uint32_t permission,
                                    uint32_t desc_size, const char *desc)
{
    (void)algo_idx, (void)counter_id, (void)max_value, (void)permission, (void)desc_size, (void)desc;
    device_counter_count++;
}

void doca_pcc_dev_init_algo_slot(uint32_t port_num, uint32_t algo_slot, uint32_t algo_idx, uint32_t enabled)
{
    uint32_t *slot = device_slots[device_slot_count++];

    slot[0] = port_num;
    slot[1] = algo_slot;
    slot[2] = algo_idx;
    slot[3] = enabled;
}

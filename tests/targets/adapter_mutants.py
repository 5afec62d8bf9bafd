"""Adapters with one place of their C changed: the change, by what it breaks."""

DOCA_PCC = {
    "timestamps swapped": ("doca_pcc_dev_get_rtt_req_send_timestamp(event)", "doca_pcc_dev_get_timestamp(event)"),
    "counts kept": ("context->cnp_count = 0U;", ""),
    "nacks taken for cnps": ("type == RLCC_EVENT_NACK", "type == RLCC_EVENT_CNP"),
    "bytes in units of 64": ("units * 32U", "units * 64U"),
    "coalesced events lost": ("(said > 1U) ? said : 1U", "1U"),
    "parameters not read": ("params.base_rtt_recip_q42 = tuned[0]", "params.base_rtt_recip_q42 += 0U * tuned[0]"),
    "parameters in another order": ("tuned[3]", "tuned[1]"),
    "context not written back": ("algo_ctxt->data[1] = memory.words[1];", ""),
    "initial rate in another format": ("rate_initial_q30 >> 10U", "rate_initial_q30 >> 9U"),
    "no probe": ("results->rtt_req = 1U", "results->rtt_req = 0U"),
    "decisions not counted": ("rlcc_count(counted, RLCC_COUNT_DECISIONS, 1U);", ""),
}
DOCA_PCC_ONCE = {
    "late answers reset what is counted": ("if (RLCC_DECIDED(&context->flow, &decided)) {", "if (1) {"),
    "late answers are counted as decisions": ("counted, RLCC_COUNT_LATE, 1U", "counted, RLCC_COUNT_DECISIONS, 1U"),
}
"""The same for a policy that decides at most once a round trip."""
CONNECTX6DX = {
    "counts of the last event alone": (
        "memory.context.nack_count += event.nack_count",
        "memory.context.nack_count = event.nack_count",
    ),
    "counts kept": ("        memory.context.sent_bytes = 0U;", ""),
    "counts not handed over": ("event.cnp_count = memory.context.cnp_count;", ""),
    "parameters in another order": ("global_memory[1], global_memory[2]", "global_memory[2], global_memory[1]"),
    "context not written back": ("ctxt->data[1] = memory.words[1];", ""),
    "always a decision": ("if (is_response != 0)", "if (is_response >= 0)"),
    "rate cut": ("0xFFFFFFU", "0xFFFFFU"),
    "credits claimed": ("results->credits = 0U", "results->credits = 1U"),
}

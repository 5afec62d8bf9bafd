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
FALCON_RUE = {
    "losing": {
        "a decision an event": ("passed >= signals->rtt", "passed >= 0U"),
        "once an RTT and one": ("passed >= signals->rtt", "passed > signals->rtt"),
        "new connections wait": ("(connection->rate_q20 == 0U) || ", ""),
        "times that do not wrap": ("(t4 - t1) & RUE_TIME;\n    signals", "t4 - t1;\n    signals"),
        "more held than the trip": ("(held < rtt) ? (rtt - held) : 0U", "(rtt - held) & RUE_TIME"),
        "one delay for another": ("delay = (t2 - t1) & RUE_TIME", "delay = (t4 - t3) & RUE_TIME"),
        "units for ns": ("((uint64_t)signals->delay * RUE_UNIT_PS) / 1000U", "signals->delay"),
        "every NACK a loss": (" && (signals->nack_code == RUE_NACK_NO_RESOURCES)", ""),
        "no retransmission a loss": ("(signals->type == RUE_RETRANSMISSION) ||", "(signals->type == 4U) ||"),
        "losses kept": ("    connection->nack_count = 0U;\n", ""),
        "packets for bytes": ("signals->packets_acked * params->packet_bytes", "signals->packets_acked"),
        "a window of no RTT that wraps": ("(orders->rtt_state > RUE_RTT_MOST) ? RUE_RTT_MOST : ", ""),
        "no most": ("(uint32_t)((window < most) ? window : most)", "(uint32_t)window"),
        "a window of nothing": ("(window == 0U) ? 1U : (uint32_t)window", "(uint32_t)window"),
        "a gap cut off": ("+ (scale / 2U)) / scale", ") / scale"),
        "the whole interval for a gap": ("((uint64_t)1U << 36U) - (pace * rtt)", "((uint64_t)1U << 36U)"),
        "no most of gaps": ("(gap > params->gap_most) ? params->gap_most : gap", "gap"),
        "a timeout without the gap": ("        timeout += (gap * RUE_TICK_PS) / RUE_UNIT_PS;", ""),
        "a timeout that wraps": ("(timeout > RUE_TIME) ? RUE_TIME : timeout", "timeout"),
        "no least timeout": ("(timeout > params->retransmit_least) ? (uint32_t)timeout : params->retransmit_least",
                             "(uint32_t)timeout"),
        "a marker that grows old": ("(now - signals->rtt_state) & RUE_TIME;", "signals->marker;"),
        "a marker of 32 bits": ("(now - signals->marker) & RUE_TIME", "now - signals->marker"),
        "0 stays new": ("(params->policy.rate_initial_q30 >> 10U) + 1U", "params->policy.rate_initial_q30 >> 30U"),
        "a response not cleared": ("line->word[0] = 0U", "line->word[0] &= 15U"),
        "a field torn at a word": ("line->word[first + 1U] |= kept >> after", "line->word[first + 1U] |= 0U"),
    },
    "delivered": {
        "packets for bytes": ("signals->packets_acked * params->packet_bytes", "signals->packets_acked"),
        "bytes kept": ("    connection->acked_bytes = 0U;\n", ""),
    },
    "options": {
        "no cap": ("(capped < RUE_WINDOW_ONE) ? RUE_WINDOW_ONE : capped", "most"),
        "less than a packet": ("(capped < RUE_WINDOW_ONE) ? RUE_WINDOW_ONE : capped", "capped"),
        "no cap before the first sample": ("rlcc_first_in_flight(&params->policy)", "0xFFFFFFFFU"),
    },
}  # fmt: skip
"""The same for Falcon, by the student around which the adapter is broken."""
FALCON_RUE_2 = {
    "alpha of another event": ("? RUE_ALPHA_RETRANSMISSION : RUE_ALPHA", "? RUE_ALPHA : RUE_ALPHA"),
    "ACKs too seldom": ("< RUE_ASK_WINDOW_Q10", "< 2048U"),
    "paths without weight": ("RUE2_RESPONSE_FLOW_WEIGHT_3, paths", "RUE2_RESPONSE_FLOW_WEIGHT_3, 0U"),
    "a path where there is one": ("paths * rue_get", "rue_get"),
    "whole packets of the NIC's window": ("params->nic_window * RUE_WINDOW_ONE", "params->nic_window"),
}
"""The same for its second generation, with the student that loses packets."""

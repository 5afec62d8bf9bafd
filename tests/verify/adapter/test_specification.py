"""Each part of the specification is needed: without it, an adapter that breaks it is proved.

Slow: all but two.
"""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from adapter_mutants import CONNECTX6DX, DOCA_PCC, DOCA_PCC_ONCE, FALCON_RUE, FALCON_RUE_2
from adapter_proofs import proved

from verify.adapter import prove
from verify.adapter.policy import PolicyFacts
from verify.adapter.transition import ProvedDevice, Transition

NEEDED = [
    ("decision on event.", "counting", "doca-pcc", DOCA_PCC["timestamps swapped"]),
    ("decision on params.", "counting", "doca-pcc", ("tuned[1]", "tuned[2]")),
    ("context.cnp_count", "counting", "doca-pcc", DOCA_PCC["counts kept"]),
    ("results.rtt_req", "counting", "doca-pcc", DOCA_PCC["no probe"]),
    ("counters.", "once", "doca-pcc", DOCA_PCC_ONCE["late answers are counted as decisions"]),
    ("decision on event.", "counting", "connectx6dx", CONNECTX6DX["counts not handed over"]),
    ("results.credits", "counting", "connectx6dx", CONNECTX6DX["credits claimed"]),
    ("decision on event.", "losing", "falcon-rue", FALCON_RUE["losing"]["units for ns"]),
    ("memory.nack_count", "losing", "falcon-rue", FALCON_RUE["losing"]["losses kept"]),
    ("response.retransmit_timeout", "losing", "falcon-rue", FALCON_RUE["losing"]["no least timeout"]),
    ("response.flow_label_3_weight", "losing", "falcon-rue", FALCON_RUE_2["paths without weight"]),
]


def without(device: ProvedDevice, start: str) -> ProvedDevice:
    """The device whose specification leaves out the outputs whose names begin so."""

    def transitions(policy: PolicyFacts) -> Sequence[Transition]:
        cases = device.transitions(policy)
        for transition in cases:
            kept = [due for due in transition.due if not due.name.startswith(start)]
            elsewhere = "counters" not in transition.structures or transition.entry.endswith("gen1")
            assert len(kept) < len(transition.due) or elsewhere
            transition.due = kept
        return cases

    return replace(device, transitions=transitions)


@pytest.mark.slow_except("doca-pcc decision on event.", "connectx6dx results.credits", "falcon-rue memory.nack_count")
@pytest.mark.parametrize(("start", "student", "target", "edit"), NEEDED, ids=[f"{row[2]} {row[0]}" for row in NEEDED])
def test_a_specification_without_an_output_lets_a_broken_adapter_pass(
    start, student, target, edit, firmware, monkeypatch
):
    made = firmware(student, target)
    assert proved(made, edit).verdict == "refuted"
    monkeypatch.setattr(prove, "DEVICES", tuple(without(device, start) for device in prove.DEVICES))
    assert proved(made, edit).verdict == "proved"

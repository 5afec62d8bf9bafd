"""Each part of the specification is needed: without it, an adapter that breaks it is proved.

Slow: all but two.
"""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from adapter_mutants import CONNECTX6DX, DOCA_PCC, DOCA_PCC_ONCE
from adapter_proofs import proved

from verify.adapter import prove
from verify.adapter.policy import PolicyFacts
from verify.adapter.transition import ProvedDevice, Transition
from verify.adapter.values import Unknowns

NEEDED = [
    ("decision on event.", "counting", "doca-pcc", DOCA_PCC["timestamps swapped"]),
    ("decision on params.", "counting", "doca-pcc", ("tuned[1]", "tuned[2]")),
    ("context.cnp_count", "counting", "doca-pcc", DOCA_PCC["counts kept"]),
    ("results.rtt_req", "counting", "doca-pcc", DOCA_PCC["no probe"]),
    ("counters.", "once", "doca-pcc", DOCA_PCC_ONCE["late answers are counted as decisions"]),
    ("decision on event.", "counting", "connectx6dx", CONNECTX6DX["counts not handed over"]),
    ("results.credits", "counting", "connectx6dx", CONNECTX6DX["credits claimed"]),
]


def without(device: ProvedDevice, start: str) -> ProvedDevice:
    """The device whose specification leaves out the outputs whose names begin so."""

    def transitions(policy: PolicyFacts) -> Sequence[tuple[Unknowns, Transition]]:
        cases = device.transitions(policy)
        for _, transition in cases:
            kept = [due for due in transition.due if not due.name.startswith(start)]
            assert len(kept) < len(transition.due) or "counters" not in transition.structures
            transition.due = kept
        return cases

    return replace(device, transitions=transitions)


@pytest.mark.slow_except("doca-pcc decision on event.", "connectx6dx results.credits")
@pytest.mark.parametrize(("start", "student", "target", "edit"), NEEDED, ids=[f"{row[2]} {row[0]}" for row in NEEDED])
def test_a_specification_without_an_output_lets_a_broken_adapter_pass(
    start, student, target, edit, firmware, monkeypatch
):
    made = firmware(student, target)
    assert proved(made, edit).verdict == "refuted"
    monkeypatch.setattr(prove, "DEVICES", tuple(without(device, start) for device in prove.DEVICES))
    assert proved(made, edit).verdict == "proved"

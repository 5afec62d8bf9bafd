"""From a teacher and recorded decisions to the quantised policy (`rlcc emit TEACHER --form mlp-int8|lstm-int8`)."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from codegen.form_names import NETWORK_FORMS
from codegen.networks.accuracy import errors, told
from codegen.networks.quantise import Bits, check, quantise
from codegen.networks.recorded_decisions import recorded, split
from decision.artefact.errors import InputError
from decision.policy.network_policy import NetworkPolicy
from decision.policy.policy import Policy
from decision.policy.records import Trajectories

HELD_OUT = 5
"""Every fifth flow's decisions are held out of the calibration."""
MAX_ROWS = 30_000
"""Decisions of one network that are looked at."""


def quantised(
    policy: Policy,
    weights: Mapping[str, NDArray[np.floating]],
    teacher_hash: str,
    rollouts: Iterable[Trajectories],
    form: str,
    bits: Bits | None = None,
) -> NetworkPolicy:
    """The quantised teacher with its accuracy on decisions held out. InputError where the form is another network's, or
    the policy one that is not emitted."""
    bits = bits or Bits()
    if form not in NETWORK_FORMS:
        raise InputError(f"there is no form {form!r} of a network; choose one of {', '.join(NETWORK_FORMS)}")
    kind = policy.architecture.kind
    if kind not in NETWORK_FORMS.values():
        check(policy)
    if NETWORK_FORMS[form] != kind:
        right = next(form for form, of in NETWORK_FORMS.items() if of == kind)
        raise InputError(f"{policy.name} is an {kind.upper()}, not what {form} is a form of; give --form {right}")
    check(policy)
    calibration, held_out = split(rollouts, every=HELD_OUT, most=MAX_ROWS)
    data = recorded(policy, calibration)
    inputs, network = quantise(policy, weights, data, bits)
    test = recorded(policy, held_out)
    report = {
        "form": form,
        "activation_bits": bits.activations,
        "hidden_bits": bits.hidden if network.lstm else None,
        "calibrated_on": len(data),
        "held_out": told(errors(policy, weights, inputs, network, test), policy.action),
        "multiply_accumulates": network.multiply_accumulates(),
        "table_lookups": network.lookups(),
        "parameters": network.parameters(),
    }
    return NetworkPolicy(policy.name, policy.header, inputs, network, teacher_hash, report)

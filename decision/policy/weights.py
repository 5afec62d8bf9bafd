"""Canonical names and shapes of a teacher's weights: what every loader aims at and the simulator reads.

    fc0.weight [h, in], fc0.bias [h], fc1.weight ..      fully connected layers
    lstm.weight_ih [4H, in], lstm.weight_hh [4H, H]      LSTM only; gates in torch's order i, f, g, o
    lstm.bias_ih [4H], lstm.bias_hh [4H]
    layer1.weight ..                                     of kind "layers", by place (decision/policy/layers.py)
    out.weight [K, h], out.bias [K]
    trigger_fc0.weight [h, in + saved], .., trigger_out  of a trigger, where there is one (decision/policy/trigger.py)

Biases of fc and out exist only with ``bias = true``.
"""

from decision.policy.policy import Policy
from decision.policy.trigger import OUTPUTS

Shape = tuple[int, ...]
TRIGGER = "trigger_"
"""Before the names of a trigger's layers."""


def shapes(policy: Policy, inputs: int | None = None) -> dict[str, Shape]:
    """Canonical names and shapes of a policy's weights, in order. ``inputs``: numbers of its row, where it is not the
    observation's own."""
    architecture = policy.architecture
    named: dict[str, Shape] = {}
    width = policy.observation.size if inputs is None else inputs
    for index, units in enumerate(architecture.hidden):
        named[f"fc{index}.weight"] = (units, width)
        if architecture.bias:
            named[f"fc{index}.bias"] = (units,)
        width = units
    for layer in architecture.behind_hidden(width):
        named |= layer.shapes(architecture.bias)
        width = layer.outputs
    named["out.weight"] = (policy.action.outputs, width)
    if architecture.bias:
        named["out.bias"] = (policy.action.outputs,)
    return named | _trigger_shapes(policy)


def _trigger_shapes(policy: Policy) -> dict[str, Shape]:
    if policy.trigger is None:
        return {}
    named: dict[str, Shape] = {}
    width = policy.observation.size + policy.saved_size
    layers = [f"{TRIGGER}fc{index}" for index in range(len(policy.trigger.hidden))]
    for layer, units in zip((*layers, f"{TRIGGER}out"), (*policy.trigger.hidden, OUTPUTS), strict=True):
        named[f"{layer}.weight"] = (units, width)
        if policy.architecture.bias:
            named[f"{layer}.bias"] = (units,)
        width = units
    return named

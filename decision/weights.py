"""Canonical names and shapes of a teacher's weights: what every loader aims at and the simulator reads.

    fc0.weight [h, in], fc0.bias [h], fc1.weight ..      fully connected layers
    lstm.weight_ih [4H, in], lstm.weight_hh [4H, H]      LSTM only; gates in torch's order i, f, g, o
    lstm.bias_ih [4H], lstm.bias_hh [4H]
    out.weight [K, h], out.bias [K]

Biases of fc and out exist only with ``bias = true``.
"""

from decision.policy import Policy

Shape = tuple[int, ...]


def shapes(policy: Policy) -> dict[str, Shape]:
    """Canonical names and shapes of a policy's weights, in order."""
    architecture = policy.architecture
    named: dict[str, Shape] = {}
    width = policy.observation.size
    for index, units in enumerate(architecture.hidden):
        named[f"fc{index}.weight"] = (units, width)
        if architecture.bias:
            named[f"fc{index}.bias"] = (units,)
        width = units
    if architecture.lstm is not None:
        units = architecture.lstm
        named["lstm.weight_ih"] = (4 * units, width)
        named["lstm.weight_hh"] = (4 * units, units)
        named["lstm.bias_ih"] = (4 * units,)
        named["lstm.bias_hh"] = (4 * units,)
        width = units
    named["out.weight"] = (policy.action.outputs, width)
    if architecture.bias:
        named["out.bias"] = (policy.action.outputs,)
    return named

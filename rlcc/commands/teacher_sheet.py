"""Output of `rlcc check` about a teacher: its layers, every column of its row, and what it decides for a row."""

import inspect
from collections.abc import Sequence

import numpy as np

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats
from decision.policy.actions import Scale
from decision.policy.input_layout import InputLayout
from decision.policy.policy import Policy
from teachers.folding import sources
from teachers.inference import outputs_of
from teachers.teacher import Teacher


def headline(teacher: Teacher) -> str:
    """Name, hash, layers and what follows them, number of weights."""
    policy, architecture = teacher.policy, teacher.policy.architecture
    layers = [str(policy.observation.size)]
    layers += [f"{units} {name}" for units, name in zip(architecture.hidden, architecture.activations, strict=True)]
    layers += [] if architecture.lstm is None else [f"LSTM {architecture.lstm}"]
    layers += architecture.layers
    end = policy.output_activation
    if architecture.output_clip is not None:
        end = f"cut off at {architecture.output_clip:g}, {end}"
    layers.append(f"{policy.action.outputs}" + ("" if end == "identity" else f" {end}"))
    count = sum(array.size for array in teacher.weights.values())
    return f"{policy.name} {teacher.hash[:12]}: {' -> '.join(layers)}, {count:,} weights"


def columns(teacher: Teacher, layout: InputLayout) -> list[tuple[str, str, str, str]]:
    """Returns the columns of the network's own row: number, name (a feature and how many decisions ago, or a constant),
    unit, meaning."""
    observation = teacher.policy.observation
    features = dict(zip(observation.labels, observation.features, strict=True))
    own = layout.columns_of(observation.labels)
    told = []
    for number in range(observation.window * len(own)):
        place, column = divmod(number, len(own))
        age = observation.window - 1 - place if layout.order == "oldest_first" else place
        what = own[column]
        if isinstance(what, str):
            first = place == 0  # once says it for all decisions
            unit = features[what].unit_in(observation.agents)
            told.append((str(number + 1), f"{what}_{age}", unit, _meaning(features[what]) if first else ""))
        else:
            told.append((str(number + 1), f"{what:g}", "", "constant" if place == 0 else ""))
    return told


def _meaning(feature: object) -> str:
    """The first sentence of what the feature's class says, and how this one is told from others of its kind."""
    text = " ".join((inspect.getdoc(type(feature)) or "").split())
    settings = {k: v for k, v in feature.model_dump().items() if k != "kind"}  # type: ignore[attr-defined]
    told = ", ".join(f"{k} = {v}" for k, v in settings.items())
    return text.split(". Integer")[0].rstrip(".") + (f"; here {told}" if told else "")


def outputs(teacher: Teacher, layout: InputLayout, rows: Floats) -> Floats:
    """Returns the network's outputs [N, outputs] at rows [N, its own columns], before offset and scale. InputError
    where a constant column has another value."""
    policy = teacher.policy
    own = layout.columns_of(policy.observation.labels) * policy.observation.window
    for number, column in enumerate(own):
        if not isinstance(column, str) and (rows[:, number] != column).any():
            raise InputError(f"column {number + 1} of a row is always {column:g}, by input.columns of policy.toml")
    ours = rows[:, sources(policy, layout)].astype(np.float32)
    return outputs_of(teacher, ours, np.arange(len(ours))).astype(np.float64)


def decided(policy: Policy, outputs: Floats) -> list[str]:
    """Returns the decision of each row of outputs [N, outputs], in words."""
    values = policy.action.decided(outputs)
    if isinstance(policy.action, Scale):
        return [
            f"output {_numbers(row)}: the rate times {value:.6f}"
            for row, value in zip(outputs, values[:, 0], strict=True)
        ]
    names: Sequence[str] = policy.action.values
    knobs = [", ".join(f"{n} {int(v):,}" for n, v in zip(names, row, strict=True)) for row in values]
    return [f"output {_numbers(row)}: {text}" for row, text in zip(outputs, knobs, strict=True)]


def _numbers(row: Floats) -> str:
    shown = [f"{value:.6f}" for value in row[:4]]
    return " ".join(shown) + (f" .. ({len(row)})" if len(row) > 4 else "")

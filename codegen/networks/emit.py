"""`rlcc emit TEACHER --form mlp-int8|lstm-int8`: from a teacher and recorded decisions to a firmware folder.

The folder is that of a student (codegen/emit.py) with network.json in place of student.json: whatever reads, runs and
measures a firmware folder takes it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.initialisers import declared, elements, vectors_inc
from codegen.layout import LaidOut, context_layout, manifest_layouts
from codegen.lower import Options
from codegen.networks.accuracy import errors, told
from codegen.networks.network_c import arrays, described
from codegen.networks.printer import NetworkPrinter
from codegen.networks.quantise import Bits, quantise
from codegen.networks.recorded import recorded, split
from codegen.networks.vectors import make
from codegen.passes.program import lower_program
from codegen.render import interface
from codegen.targets import ALL, Target, counters_kept, misfit, targets_named
from codegen.templates import environment
from decision.documents import dump_json, write_atomically
from decision.errors import InputError
from decision.features import PreviousAction
from decision.forest import integer
from decision.manifest import Manifest, check_place, sha256, writing
from decision.network_policy import NAME as NETWORK_NAME
from decision.network_policy import NetworkPolicy
from decision.policy import Policy
from decision.program import Program
from decision.records import Trajectories

KIND = "firmware"
FORMS = {"mlp-int8": "mlp", "lstm-int8": "lstm"}
"""Form of the firmware, and the kind of network that it is a form of."""
HELD_OUT = 5
"""Every fifth flow's decisions are held out of the calibration."""
MOST_ROWS = 30_000
"""Decisions of one network that are looked at."""


@dataclass(frozen=True)
class NetworkEmission:
    """What to emit. ``context_bytes``: what the device keeps a flow, where it is less than the target's."""

    form: str
    target: str = "connectx6dx"
    seed: int = 0
    bits: Bits = field(default_factory=Bits)
    context_bytes: int | None = None


def quantised(
    policy: Policy,
    weights: Mapping[str, NDArray[np.floating]],
    teacher_hash: str,
    rollouts: Iterable[Trajectories],
    emission: NetworkEmission,
) -> NetworkPolicy:
    """The quantised teacher with its accuracy on decisions held out. InputError where the form is another network's."""
    if emission.form not in FORMS:
        raise InputError(f"there is no form {emission.form!r} of a network; choose one of {', '.join(FORMS)}")
    kind = policy.architecture.kind
    if FORMS[emission.form] != kind:
        right = next(form for form, of in FORMS.items() if of == kind)
        raise InputError(
            f"{policy.name} is an {kind.upper()}, not what {emission.form} is a form of; give --form {right}"
        )
    calibration, held_out = split(rollouts, every=HELD_OUT, most=MOST_ROWS)
    data = recorded(policy, calibration)
    inputs, network = quantise(policy, weights, data, emission.bits)
    test = recorded(policy, held_out)
    report = {
        "form": emission.form,
        "activation_bits": emission.bits.activations,
        "hidden_bits": emission.bits.hidden if network.lstm else None,
        "calibrated_on": len(data),
        "held_out": told(errors(policy, weights, inputs, network, test)),
        "multiply_accumulates": network.multiply_accumulates(),
        "table_lookups": network.lookups(),
        "parameters": network.parameters(),
    }
    return NetworkPolicy(
        policy.name, policy.observation, policy.action, policy.limits, inputs, network, teacher_hash, report
    )


def emission_of_network(manifest: Manifest) -> NetworkEmission:
    """How a network's firmware folder was emitted, from its manifest. How many bits it has stands in the network."""
    details = manifest.details
    form, asked = details.get("form"), details.get("context_asked")
    named = form.get("form") if isinstance(form, dict) else None
    if named not in FORMS or manifest.seed is None or not (asked is None or type(asked) is int):
        raise InputError("the firmware's manifest does not say how the network was emitted; emit it again")
    return NetworkEmission(named, str(details.get("target")), manifest.seed, context_bytes=asked)


def emit_network(policy: NetworkPolicy, rollouts_hash: str, out: Path, emission: NetworkEmission) -> dict[str, Any]:
    """Write the firmware folder ``out``; returns the manifest's details. InputError where its context does not fit."""
    check_place(out, KIND)
    details: dict[str, Any] = {}
    parents = {"teacher": policy.teacher, "rollouts": rollouts_hash}
    with writing(out, KIND, parents=parents, tools=("jinja2", "numpy"), seed=emission.seed, details=details) as folder:
        details |= fill(folder, policy, emission)
    return details


def fill(folder: Path, policy: NetworkPolicy, emission: NetworkEmission) -> dict[str, Any]:
    """Write every file of the folder but its manifest; returns the manifest's details."""
    _check_report(policy.report)
    program = policy.program()
    # high-word and idle passes are of the arithmetic around the network; there are no trees to lower.
    printer = NetworkPrinter(lower_program(program, Options()))
    targets, left_out = _fitting(policy, program, printer, emission)
    limit = min(_limit(target, emission) for target in targets)
    policy.save(folder)
    tables = _render(folder, policy, program, printer, targets, limit, emission)
    vectors, entries = make(program, policy.params(), seed=emission.seed)
    write_atomically(folder / "vectors.csv", vectors.to_csv())
    write_atomically(folder / "vectors.inc", vectors_inc(program, vectors))
    write_atomically(folder / "program.json", dump_json(program.to_json()))
    return {
        "target": emission.target,
        "left_out": left_out,
        "policy": policy.name,
        "context_bytes": context_layout(program)[1],
        "context_limit": limit,
        "context_asked": emission.context_bytes,
        "vectors": len(vectors),
        "table_entries": {"wanted": entries.wanted, "hit": entries.hit},
        "layout": manifest_layouts(program),
        "params_default": policy.params(),
        "fixed": [],
        "table_bytes": tables,
        "form": {"form": emission.form, "loops": True} | policy.report,
    }


def _render(
    folder: Path,
    policy: NetworkPolicy,
    program: Program,
    printer: NetworkPrinter,
    targets: tuple[Target, ...],
    limit: int,
    emission: NetworkEmission,
) -> int:
    """Write the C, its makefile, the adapters; returns the bytes of constant tables."""
    templates, network = environment(), policy.network
    policy_hash = sha256((folder / NETWORK_NAME).read_bytes())
    used = printer.signals()
    constants = arrays(network)
    fields, _ = context_layout(program)
    tables = sum(array.bytes for array in constants)
    common = interface(policy, program, policy_hash, used, limit) | {"made": "trained"}
    core = {
        "form": emission.form,
        "layers": _layers(policy),
        "formats": _formats(policy),
        "accuracy": _accuracy(policy),
        "meanings": [feature.meaning() for feature in policy.observation.features],
        "table_bytes": tables,
        "multiply_accumulates": network.multiply_accumulates(),
        "lookups": network.lookups(),
        "target": ", ".join(target.name for target in targets),
        "adapter_sources": [] if emission.target == ALL else list(targets[0].adapter_sources),
        "arrays": constants,
        "statements": printer.statements(),
        "writes": printer.writes(),
        "head": printer.head(),
        "result": printer.result(),
        **described(network),
    }
    files: list[tuple[str, list[LaidOut]]] = [
        ("network/rlcc_policy.h", declared(fields)),
        ("network/rlcc_policy.c", declared(fields)),
        ("common/rlcc_policy.mk", []),
        ("common/rlcc_selftest.c", elements(fields)),
    ]
    for file, state in files:
        text = templates.get_template(f"{file}.j2").render(**common | core | {"state": state})
        write_atomically(folder / Path(file).name, text)
    for target in targets:
        place = folder / target.name if emission.target == ALL else folder
        place.mkdir(exist_ok=True)
        own = {"target": target.name, "counters": counters_kept(target, used), "context_limit": target.context_bytes}
        for template in target.templates:
            text = templates.get_template(template).render(**common | own)
            write_atomically(place / Path(template).name.removesuffix(".j2"), text)
    return tables


def _limit(target: Target, emission: NetworkEmission) -> int:
    asked = emission.context_bytes
    return target.context_bytes if asked is None else min(asked, target.context_bytes)


def _fitting(
    policy: NetworkPolicy, program: Program, printer: NetworkPrinter, emission: NetworkEmission
) -> tuple[tuple[Target, ...], dict[str, str]]:
    """The targets to write; of ``all`` those are left out, with the reason, that cannot hold the network."""
    reasons = {target: _misfit(policy, program, printer, target, emission) for target in targets_named(emission.target)}
    left_out = {target.name: why for target, why in reasons.items() if why is not None}
    kept = tuple(target for target in reasons if target.name not in left_out)
    if not kept or (left_out and emission.target != ALL):
        raise InputError(next(iter(left_out.values())))
    return kept, left_out


def _misfit(
    policy: NetworkPolicy, program: Program, printer: NetworkPrinter, target: Target, emission: NetworkEmission
) -> str | None:
    """Why the network cannot go on the target, in one sentence; None where it can."""
    if target.form is not None:
        return f"the target {target.name} takes trees only, its verifier no loops over tables; choose another target"
    used = printer.signals()
    size, limit = context_layout(program)[1], _limit(target, emission)
    adapter = target.adapter_bytes + 4 * len(counters_kept(target, used))
    if size + adapter > limit:
        lstm = policy.network.lstm
        state = f"{2 * lstm.units} state values of the LSTM in " if lstm else ""
        fewer = limit < target.context_bytes
        keeps = "--context-bytes allows" if fewer else f"{target.name} keeps a flow"
        where = "allow" if fewer else "choose a target that keeps"
        return (
            f"{state}the flow context of {policy.name}: {size + adapter} bytes, {adapter} of them the adapter's, do "
            f"not fit into the {limit} that {keeps}; distil it into trees or {where} more"
        )
    return misfit(target, signals=used, flow_bytes=0, arguments=0)


def _layers(policy: NetworkPolicy) -> str:
    network = policy.network
    widths = [f"{network.inputs} inputs", *(str(layer.matrix.shape[0]) for layer in network.layers)]
    widths += [f"LSTM of {network.units}"] if network.lstm else []
    return ", ".join([*widths, "1 output"])


def _check_report(report: Mapping[str, Any]) -> None:
    """What stands in comments of the C are numbers, also where the policy was read from a file."""
    try:
        held = report["held_out"]
        integer(report["activation_bits"]), integer(held["decisions"])
        if not all(type(held[name]) is float and np.isfinite(held[name]) for name in ("rmse", "p99", "max")):
            raise ValueError("an error is no number")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{NETWORK_NAME}: report is not readable ({error!r}); emit the firmware again") from None


def _formats(policy: NetworkPolicy) -> list[str]:
    network, features = policy.network, policy.observation.features
    found = [f"weights int8, a scale a row; sums int32; between layers int{policy.report['activation_bits']}"]
    for feature, how in zip(features, policy.inputs, strict=True):
        name = "action" if isinstance(feature, PreviousAction) else feature.name
        raw = f"{name} * 2^{-how.shift}" if how.shift <= 0 else f"{name} / 2^{how.shift}"
        found.append(f"input {feature.kind}: {'root of ' if how.root else ''}{raw}, int16")
    if network.lstm is not None:
        hidden, cell = network.lstm.hidden_bits, network.lstm.cell_bits
        found.append(f"state: hidden int{hidden + 1} Q{hidden}, cell int16 Q{cell}")
    return found


def _accuracy(policy: NetworkPolicy) -> str:
    held = policy.report["held_out"]
    return (
        f"the multiplier is off the teacher's by {held['rmse']:.5f} rms, {held['p99']:.5f} in 99 of 100, "
        f"{held['max']:.5f} at most, on {held['decisions']} recorded decisions"
    )

"""A quantised network as a body."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from codegen.body import Body
from codegen.emit import Emission, emit_body
from codegen.form_names import NETWORK_FORMS
from codegen.initialisers import declared, elements
from codegen.layout import LaidOut
from codegen.networks.network_c import arrays, described
from codegen.networks.printer import NetworkPrinter
from codegen.networks.vectors import make
from codegen.passes.program import LoweredProgram
from codegen.printer import Printer
from codegen.targets import Target, adapter_bytes, misfit
from codegen.vectors import Vectors
from decision.artefact.errors import InputError
from decision.ir.forest import integer
from decision.ir.program import Program
from decision.policy.features import PreviousAction
from decision.policy.network_policy import NAME as NETWORK_NAME
from decision.policy.network_policy import NetworkPolicy
from decision.policy.once_per_rtt import decides_once
from decision.policy.policy import Header


class NetworkBody(Body):
    file = NETWORK_NAME
    templates = "network"
    decider: NetworkPolicy

    def __init__(self, policy: NetworkPolicy) -> None:
        super().__init__(policy)
        _check_report(policy.report)

    def parents(self) -> dict[str, str]:
        return {"teacher": self.decider.teacher}

    def header(self) -> Header:
        return self.decider.header

    def printer(self, lowered: LoweredProgram) -> NetworkPrinter:
        return NetworkPrinter(lowered)

    def vectors(self, program: Program, lowered: LoweredProgram, seed: int) -> tuple[Vectors, dict[str, Any]]:
        vectors, entries = make(program, self.decider.params(), seed=seed)
        return vectors, {"table_entries": {"wanted": entries.wanted, "hit": entries.hit}}

    def words(self, lowered: LoweredProgram, printer: Printer) -> dict[str, Any]:
        policy, network = self.decider, self.decider.network
        return {
            "made": "trained",
            "teacher_hash": policy.teacher,
            "line_rate_bytes": (policy.observation.line_rate or 0) // 8,
            "form": policy.report["form"],
            "layers": _layers(policy),
            "formats": _formats(policy),
            "accuracy": _accuracy(policy),
            "meanings": [feature.meaning() for feature in policy.observation.features],
            "table_bytes": self._table_bytes(),
            "multiply_accumulates": network.multiply_accumulates(),
            "lookups": network.lookups(),
            "arrays": arrays(network),
            **described(network),
        }

    def _table_bytes(self) -> int:
        return sum(array.bytes for array in arrays(self.decider.network))

    def details(self, lowered: LoweredProgram) -> dict[str, Any]:
        report = self.decider.report
        return {"table_bytes": self._table_bytes(), "form": {"form": report["form"], "loops": True} | report}

    def initial(self, name: str, value: int) -> str:
        if name == "base_rtt_recip_q42":
            return f"RLCC_BASE_RTT_RECIP_Q42({self.decider.observation.base_rtt}U)"
        return super().initial(name, value)

    def declared(self, fields: tuple[LaidOut, ...]) -> list[LaidOut]:
        return declared(fields)

    def elements(self, fields: tuple[LaidOut, ...]) -> list[LaidOut]:
        return elements(fields)

    def misfit(self, target: Target, printer: Printer, context_bytes: int, limit: int) -> str | None:
        if target.form is not None:
            return f"the target {target.name} takes trees only, its verifier no loops over tables; choose another"
        policy, used = self.decider, printer.signals()
        adapter = adapter_bytes(target, used, printer.program.interface.knob_names, decides_once(printer.program))
        if context_bytes + adapter > limit:
            lstm = policy.network.lstm
            state = f"{2 * lstm.units} state values of the LSTM in " if lstm else ""
            fewer = limit < target.context_bytes
            keeps = "--context-bytes allows" if fewer else f"{target.name} keeps a flow"
            where = "allow" if fewer else "choose a target that keeps"
            return (
                f"{state}the flow context of {policy.name}: {context_bytes + adapter} bytes, {adapter} of them the "
                f"adapter's, do not fit into the {limit} that {keeps}; distil it into trees or {where} more"
            )
        return misfit(target, signals=used, flow_bytes=0, arguments=0)


def _layers(policy: NetworkPolicy) -> str:
    network = policy.network
    widths = [f"{network.inputs} inputs", *(str(layer.matrix.shape[0]) for layer in network.layers)]
    widths += [f"LSTM of {network.units}"] if network.lstm else []
    return ", ".join([*widths, f"{network.output.shape[0]} outputs" if network.groups else "1 output"])


def _check_report(report: Mapping[str, Any]) -> None:
    """Raises InputError unless the report's entries in comments of the C are numbers, also if the policy was read from
    a file."""
    try:
        held = report["held_out"]
        if report["form"] not in NETWORK_FORMS:
            raise ValueError("the form is none")
        integer(report["activation_bits"]), integer(held["decisions"])
        names = ("differ",) if "differ" in held else ("rmse", "p99", "max")
        if not all(type(held[name]) is float and np.isfinite(held[name]) for name in names):
            raise ValueError("an error is no number")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{NETWORK_NAME}: report is not readable ({error!r}); emit the firmware again") from None


def _formats(policy: NetworkPolicy) -> list[str]:
    network, features = policy.network, policy.observation.features
    lines = [f"weights int8, a scale a row; sums int32; between layers int{policy.report['activation_bits']}"]
    for feature, scaling in zip(features, policy.inputs, strict=True):
        name = "action" if isinstance(feature, PreviousAction) else feature.name
        raw = f"{name} * 2^{-scaling.shift}" if scaling.shift <= 0 else f"{name} / 2^{scaling.shift}"
        lines.append(f"input {feature.kind}: {'root of ' if scaling.root else ''}{raw}, int16")
    if network.lstm is not None:
        hidden, cell = network.lstm.hidden_bits, network.lstm.cell_bits
        lines.append(f"state: hidden int{hidden + 1} Q{hidden}, cell int16 Q{cell}")
    return lines


def _accuracy(policy: NetworkPolicy) -> str:
    held = policy.report["held_out"]
    if "differ" in held:
        return f"another row than the teacher's in {held['differ']:.3%} of {held['decisions']} recorded decisions"
    return (
        f"the multiplier is off the teacher's by {held['rmse']:.5f} rms, {held['p99']:.5f} in 99 of 100, "
        f"{held['max']:.5f} at most, on {held['decisions']} recorded decisions"
    )


def emit_network(policy: NetworkPolicy, rollouts_hash: str, out: Path, emission: Emission) -> dict[str, Any]:
    """Write the firmware folder ``out``; returns the manifest's details. InputError where its context does not fit."""
    return emit_body(NetworkBody(policy), out, emission, parents={"rollouts": rollouts_hash})

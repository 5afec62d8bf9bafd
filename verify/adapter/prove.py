"""A device's adapter against its specification, for all inputs, with ``rlcc_decide`` as an arbitrary function.

for device in devices_of(firmware):
    proof = prove(firmware, device, tools)
    proof.verdict       # "proved": every output is as specified, for every input, and memory is safe

The machine code is walked once for each case of the device, with models in the place of the functions that it calls.
Then each output is compared with the specification, on numbers first, and by a solver.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np
from bitwuzla import Kind, Term

from decision.artefact.errors import InputError
from emulator.compile import Toolchain
from emulator.firmware import Firmware
from emulator.sources import Sources, read_sources
from verify.adapter.build import AdapterBuild, build_adapter
from verify.adapter.connectx6dx import CONNECTX6DX
from verify.adapter.doca_pcc import DOCA_PCC
from verify.adapter.external import AdapterWalk, ExternalCall, Model
from verify.adapter.falcon_rue import FALCON_RUE
from verify.adapter.libc import LIBRARY
from verify.adapter.policy import policy_of
from verify.adapter.transition import Due, ProvedDevice, Transition
from verify.adapter.values import SAMPLES
from verify.code.failures import Refused
from verify.rv64.decoder import decode_text
from verify.rv64.memory import AllowedPlaces, Constants
from verify.rv64.paths import Branches, Paths
from verify.rv64.values import MachineWord
from verify.rv64.walk import WalkJudge, check_kept
from verify.terms.bits import LogicUndecided

DEVICES = (DOCA_PCC, CONNECTX6DX, FALCON_RUE)
ALL = "all"
"""Target of firmware that has a folder for each device."""
SECONDS, STEP_SECONDS = 30.0, 2.0
"""Time limits of one question, and of one whether a word is a step of the specification."""
MIN_VALUES = 4
"""Different values of a word on the samples, for it to be compared with steps."""


@dataclass
class AdapterProof:
    """Result of a proof. ``text`` says why it is not proved; ``example``: inputs for which an output differs."""

    device: str
    path: str = ""
    entries: tuple[str, ...] = ()
    verdict: str = "proved"
    text: str = ""
    example: Mapping[str, int] = field(default_factory=dict)
    outputs: int = 0
    calls: int = 0
    questions: int = 0

    @property
    def proved(self) -> bool:
        return self.verdict == "proved"

    @property
    def shown(self) -> str:
        """Returns the example as text."""
        return " ".join(f"{name}={value:#x}" for name, value in self.example.items())


class _Different(Exception):
    def __init__(self, text: str, example: Mapping[str, int]) -> None:
        super().__init__(text)
        self.example = example


def devices_of(firmware: Firmware) -> tuple[ProvedDevice, ...]:
    """Returns the devices with a specification that a firmware has adapters for."""
    return tuple(device for device in DEVICES if path_of(firmware, device) in firmware.manifest.files)


def path_of(firmware: Firmware, device: ProvedDevice) -> str:
    """Returns the path of a device's C. In firmware of all targets, each device has a folder of its own."""
    name = firmware.named(device.source)
    return f"{device.target}/{name}" if firmware.manifest.details.get("target") == ALL else name


def prove(firmware: Firmware, device: ProvedDevice, tools: Toolchain) -> AdapterProof:
    """Returns the proof of a firmware's adapter for a device, as these tools compile it."""
    return prove_sources(firmware, device, adapter_sources(firmware, device), tools)


def adapter_sources(firmware: Firmware, device: ProvedDevice) -> Sources:
    """Returns the adapter's C with the headers that it includes."""
    return read_sources(firmware.manifest, path_of(firmware, device), device.headers)


def prove_sources(firmware: Firmware, device: ProvedDevice, sources: Sources, tools: Toolchain) -> AdapterProof:
    """Returns the proof of an adapter's C next to a firmware's policy."""
    if not tools.profile.core.isa.startswith("rv64"):
        raise InputError(f"adapters are proved on an RV64 profile; {tools.profile.name} is {tools.profile.core.isa}")
    proof = AdapterProof(device.target, path_of(firmware, device))
    build = cache(partial(build_adapter, sources, tools=tools))
    try:
        for transition in device.transitions(policy_of(firmware)):
            entry = firmware.named(transition.entry)
            models = LIBRARY | {firmware.named(name): model for name, model in transition.models.items()}
            proof.entries = tuple(dict.fromkeys((*proof.entries, entry)))
            _Case(build(entry), transition, models, proof).run()
    except _Different as error:
        proof.verdict, proof.text, proof.example = "refuted", str(error), error.example
    except (Refused, LogicUndecided) as error:
        proof.verdict, proof.text = "not proved", str(error)
    return proof


class _Case:
    """One walk and its questions."""

    def __init__(
        self,
        build: AdapterBuild,
        transition: Transition,
        models: Mapping[str, Model],
        proof: AdapterProof,
    ) -> None:
        self.build, self.transition, self.proof = build, transition, proof
        self.words, self.bits = transition.unknowns.words, transition.unknowns.bits
        self.bits.seconds = SECONDS
        self.branches = Branches(self.words, self.bits, SAMPLES)
        frame = AllowedPlaces(transition.structures, build.stack_bytes)
        constants, judge = Constants(build.image, self.bits), WalkJudge(self._named, self._named, self._shown)
        code = decode_text(build.image)
        self.walk = AdapterWalk(code, build.entry, self.words, frame, constants, self.branches, judge)
        self.walk.arguments = transition.arguments
        self.walk.models = {
            address: models.get(name) or _without_model(name) for address, name in build.externals.items()
        }

    def run(self) -> None:
        """Raises Refused, LogicUndecided or _Different for what is not proved."""
        try:
            end = self.walk.run(self.transition.memory)
            check_kept(end, self.build.entry)
            for due in self.transition.due:
                self._compare(due, due.found(self.words, end.slots, self.build.entry))
                self.proof.outputs += 1
        finally:
            self.proof.calls += self.walk.calls
            self.proof.questions += self.bits.questions

    def _compare(self, due: Due, word: MachineWord) -> None:
        if word.base:
            raise Refused("not-proved", self.build.entry, f"{due.name} is a pointer")
        expected = due.value.word
        about = word.nodes | expected.nodes
        inputs = {name: one for name, one in self.transition.unknowns.found.items() if one.nodes & about}
        differing = np.flatnonzero(np.broadcast_to(word.samples != expected.samples, SAMPLES))
        if len(differing):
            n = int(differing[0])
            ours, specified, *values = (
                int(np.broadcast_to(one.samples, SAMPLES)[n]) for one in (word, expected, *inputs.values())
            )
        else:
            terms: list[Term] = [word.term, expected.term, *(one.term for one in inputs.values())]
            found = self.bits.values([self.bits.term(Kind.DISTINCT, terms[:2])], terms, due.name)
            if found is None:
                return
            ours, specified, *values = found
        text = f"{due.name} is {ours:#x}, specified {specified:#x}{'' if inputs else ', for every input'}"
        raise _Different(text, dict(zip(inputs, values, strict=True)))

    def _named(self, word: MachineWord, paths: Paths) -> MachineWord:
        """The number as a step of the specification, where it can be shown to be one on these paths."""
        mask = self.branches.mask(paths) if self.transition.steps else None
        if mask is None or len(np.unique(ours := np.broadcast_to(word.samples, SAMPLES)[mask])) < MIN_VALUES:
            return word
        for step in self.transition.steps:
            if step is word:
                return word
            if (np.broadcast_to(step.samples, SAMPLES)[mask] == ours).all() and self._equal(word, step, paths):
                return step
        return word

    def _equal(self, word: MachineWord, step: MachineWord, paths: Paths) -> bool:
        """Whether two words were shown to be one on these paths, in a short time."""
        differ = self.bits.term(Kind.DISTINCT, [word.term, step.term])
        with suppress(LogicUndecided):
            return not self.bits.satisfiable([*self.branches.condition(paths), differ], "a step", STEP_SECONDS)
        return False

    def _shown(self, flag: MachineWord, paths: Paths, address: int) -> None:
        """Raises Refused where a condition may be 0 on these paths."""
        wrong = self.bits.term(Kind.NOT, [self.bits.true(flag.term)])
        if self.bits.satisfiable(
            [*self.branches.condition(paths), wrong], f"the address of the access at {address:#x}"
        ):
            raise Refused("load-address", address, f"an access that the inputs take elsewhere at {address:#x}")


def _without_model(name: str) -> Model:
    def model(call: ExternalCall) -> None:
        raise Refused("not-proved", call.i.address, f"the adapter calls {name}, which has no model")

    return model

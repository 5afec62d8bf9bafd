"""One event of a device: what the adapter gets, and what it must leave and hand over."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from verify.adapter.external import ExternalCall, Model, record_slot
from verify.adapter.policy import WORD, PolicyFacts
from verify.adapter.values import U32, Unknowns
from verify.code.arguments import Structure
from verify.rv64.memory import Slot, Slots
from verify.rv64.values import MachineWord

RATE = "rate_q20"


@dataclass(frozen=True)
class Due:
    """A word that the adapter must leave or hand over: its place when the adapter returns, and its value."""

    name: str
    slot: Slot
    value: U32


@dataclass
class Transition:
    """The inputs of one event, the models of the functions that the adapter calls, and the outputs due."""

    arguments: Sequence[MachineWord]
    structures: dict[str, Structure] = field(default_factory=dict)
    memory: Slots = field(default_factory=dict)
    models: dict[str, Model] = field(default_factory=dict)
    due: list[Due] = field(default_factory=list)

    def add(self, name: str, words: Sequence[U32], written: bool) -> None:
        """Adds a structure of the device with its contents before the event."""
        self.structures[name] = Structure(name, WORD * len(words), (), written)
        self.memory |= {(name, WORD * n, WORD): word.word for n, word in enumerate(words)}

    def leave(self, structure: str, values: Mapping[str, U32]) -> None:
        """Says what the words of a structure must be after the event, by their names in their order."""
        slots = ((structure, WORD * n, WORD) for n in range(len(values)))
        self.due += [Due(f"{structure}.{name}", slot, values[name]) for name, slot in zip(values, slots, strict=True)]

    def hand(self, values: Mapping[str, U32]) -> None:
        """Says what functions must have got, by the names that their models record; 0 where they are not called."""
        for name, value in values.items():
            self.memory[record_slot(name)] = value.words.number(0)
            self.due.append(Due(name, record_slot(name), value))


@dataclass(frozen=True)
class ProvedDevice:
    """A device whose adapters can be proved: its target, the adapter's C file and the function that an event calls.

    ``transitions``: the cases of a policy that are proved one after the other, with their inputs; ``headers``: those
    that the C file may name besides the firmware's own."""

    target: str
    source: str
    entry: str
    transitions: Callable[[PolicyFacts], Sequence[tuple[Unknowns, Transition]]]
    headers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Decision:
    """The answer of ``rlcc_decide``, an arbitrary function: the flow's words afterwards, and the rate."""

    flow: Sequence[U32]
    rate: U32


def carried(
    before: Mapping[str, U32], answer: Decision, when: U32, is_new: U32, params: Mapping[str, U32]
) -> dict[str, U32]:
    """Returns the words of the context after an event: the answer's, where the flag ``when`` is set. Without an answer
    the rate in force stays, and that of a new flow is by the parameters."""
    first = (params["rate_initial_q30"] >> 10) + 1
    rate = answer.rate.where(when, first.where(is_new, before[RATE]))
    flow = {f"flow[{n}]": word.where(when, before[f"flow[{n}]"]) for n, word in enumerate(answer.flow)}
    return {**before, RATE: rate, **flow}


def decided(
    policy: PolicyFacts,
    unknowns: Unknowns,
    transition: Transition,
    when: U32,
    flow: Sequence[U32],
    event: Mapping[str, U32],
    params: Mapping[str, U32],
) -> Decision:
    """Adds that the adapter asks for one decision, where the flag ``when`` is set, on this flow, event and parameters.
    Returns its answer."""
    answer = [unknowns.u32(f"answer.flow[{n}]") for n in range(policy.flow_words)]
    knobs = {name: unknowns.u32(f"answer.{name}") for name in policy.action or (RATE,)}
    due = {f"flow[{n}]": word for n, word in enumerate(flow)}
    due |= {f"event.{name}": event[name] for name in policy.event}
    due |= {f"params.{name}": params[name] for name in policy.params}
    transition.hand({"decisions": unknowns.number(1).where(when)})
    transition.hand({f"decision on {name}": value.where(when) for name, value in due.items()})

    def model(call: ExternalCall) -> MachineWord | None:
        call.count("decisions")
        for n, words in enumerate((range(policy.flow_words), policy.event, policy.params)):
            group = ("", "event.", "params.")[n]
            for k, name in enumerate(words):
                call.record(f"decision on {group}{name if group else f'flow[{name}]'}", call.word(n, WORD * k))
        for n, word in enumerate(answer):
            call.write(0, WORD * n, word.word)
        for n, name in enumerate(policy.action):
            call.write(3, WORD * n, knobs[name].word)
        return None if policy.action else unknowns.returned(f"answer.{RATE}")

    transition.models["rlcc_decide"] = model
    return Decision(answer, knobs[RATE])

"""One event of a device: what the adapter gets, and what it must leave and hand over."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from verify.adapter.external import ExternalCall, Model, record_slot
from verify.adapter.policy import PolicyFacts
from verify.adapter.values import Unknowns, Unsigned
from verify.code.arguments import Structure
from verify.rv64.memory import Slot, Slots, read
from verify.rv64.values import MachineWord, MachineWords
from verify.rv64.words import XLEN

RATE = "rate_q20"


@dataclass(frozen=True)
class Due:
    """A number that the adapter must leave or hand over: its place when the adapter returns, and its value.

    ``bits``: the first bit behind the beginning of the place, and how many; None for the whole place."""

    name: str
    slot: Slot
    value: Unsigned
    bits: tuple[int, int] | None = None

    def found(self, words: MachineWords, slots: Slots, at: int) -> MachineWord:
        """Returns what is in the place. Refused if nothing has written it."""
        base, offset, size = self.slot
        if self.bits is None:
            return read(words, slots, at, base, offset, size, False)
        first, count = self.bits
        word, shift = divmod(first, XLEN)
        here = words.right(read(words, slots, at, base, offset + size * word, size, False), words.number(shift), False)
        if shift + count > XLEN:
            after = read(words, slots, at, base, offset + size * (word + 1), size, False)
            here = words.either(here, words.left(after, words.number(XLEN - shift)))
        return words.low(here, count, False)


@dataclass
class Transition:
    """One event: the function that it calls, its inputs, the models of the functions that the adapter calls, and the
    outputs due. ``steps``: values on the way to them, each of which a solver may find before the next."""

    entry: str
    unknowns: Unknowns
    arguments: Sequence[MachineWord]
    structures: dict[str, Structure] = field(default_factory=dict)
    memory: Slots = field(default_factory=dict)
    models: dict[str, Model] = field(default_factory=dict)
    due: list[Due] = field(default_factory=list)
    steps: list[MachineWord] = field(default_factory=list)

    def add(self, name: str, words: Sequence[Unsigned], written: bool, alignment: int = 4) -> None:
        """Adds a structure of the device with its contents before the event."""
        offset = 0
        for word in words:
            self.memory[name, offset, word.bits // 8] = word.word
            offset += word.bits // 8
        self.structures[name] = Structure(name, offset, (), written, alignment)

    def step(self, value: Unsigned) -> Unsigned:
        """Notes a value on the way to what is due, and returns it."""
        self.steps.append(value.word)
        return value

    def leave(self, structure: str, values: Mapping[str, Unsigned]) -> None:
        """Says what the words of a structure must be after the event, by their names in their order."""
        offset = 0
        for name, value in values.items():
            self.due.append(Due(f"{structure}.{name}", (structure, offset, value.bits // 8), value))
            offset += value.bits // 8

    def leave_fields(self, structure: str, values: Mapping[str, tuple[int, int, Unsigned]]) -> None:
        """Says what the bit fields of a structure of 64-bit words must be: first bit, number of bits and value."""
        slot = structure, 0, XLEN // 8
        self.due += [
            Due(f"{structure}.{name}", slot, value, (first, count)) for name, (first, count, value) in values.items()
        ]

    def hand(self, values: Mapping[str, Unsigned]) -> None:
        """Says what functions must have got, by the names that their models record; 0 where they are not called."""
        for name, value in values.items():
            self.memory[record_slot(name)] = value.words.number(0)
            self.due.append(Due(name, record_slot(name), value))


@dataclass(frozen=True)
class ProvedDevice:
    """A device whose adapters can be proved: its target, and the adapter's C file.

    ``transitions``: the cases of a policy that are proved one after the other; ``headers``: those that the C file may
    name besides the firmware's own."""

    target: str
    source: str
    transitions: Callable[[PolicyFacts], Sequence[Transition]]
    headers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Decision:
    """The answer of ``rlcc_decide``, an arbitrary function: the flow's words afterwards, and the knobs by their names,
    of which one is the rate."""

    flow: Sequence[Unsigned]
    knobs: Mapping[str, Unsigned]


def first_rate(params: Mapping[str, Unsigned]) -> Unsigned:
    """Returns the rate of a new flow: never 0, which means a new flow."""
    return (params["rate_initial_q30"] >> 10) + 1


def carried(
    before: Mapping[str, Unsigned], answer: Decision, when: Unsigned, is_new: Unsigned, params: Mapping[str, Unsigned]
) -> dict[str, Unsigned]:
    """Returns the words of the context after an event: the answer's, where the flag ``when`` is set. Without an answer
    the rate in force stays, and that of a new flow is by the parameters."""
    rate = answer.knobs[RATE].where(when, first_rate(params).where(is_new, before[RATE]))
    return {**before, RATE: rate, **flow_after(before, answer, when)}


def flow_after(before: Mapping[str, Unsigned], answer: Decision, when: Unsigned) -> dict[str, Unsigned]:
    """Returns the policy's words after an event: the answer's, where the flag ``when`` is set."""
    return {f"flow[{n}]": word.where(when, before[f"flow[{n}]"]) for n, word in enumerate(answer.flow)}


def decided(
    policy: PolicyFacts,
    transition: Transition,
    when: Unsigned,
    flow: Sequence[Unsigned],
    event: Mapping[str, Unsigned],
    params: Mapping[str, Unsigned],
) -> Decision:
    """Adds that the adapter asks for one decision, where the flag ``when`` is set, on this flow, event and parameters.
    Returns its answer."""
    unknowns = transition.unknowns
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
                call.record(f"decision on {group}{name if group else f'flow[{name}]'}", call.word(n, 4 * k))
        for n, word in enumerate(answer):
            call.write(0, 4 * n, word.word)
        for n, name in enumerate(policy.action):
            call.write(3, 4 * n, knobs[name].word)
        return None if policy.action else unknowns.returned(f"answer.{RATE}")

    transition.models["rlcc_decide"] = model
    return Decision(answer, knobs)

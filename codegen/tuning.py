"""Settings of a firmware on a device by an operator: the parameters of its decision and, behind them, the adapter's own
words, as the bytes in which the device keeps them (little-endian, each word at a multiple of its size).

    words = words_of(folder, "linux-bpf")                             one a C field, with its unit and range
    values = chosen(words, {}, {"base_rtt": "1 ms", "line_rate": "100 Mb/s"})
    unpacked(words, packed(words, values)) == values

A field is set by its name without the format, as a quantity ("rate_start=1 %"), or by its name in C, as the whole
number that the device keeps ("rate_start_q30=10737418").
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from codegen.targets import BARE, TARGETS
from decision.artefact.errors import InputError
from decision.artefact.manifest import Manifest, Opened, of_kind
from decision.artefact.quantity import LINE_FRACTION, RATE_BPS, SIZE_BYTES, TIME_PS, parse
from decision.artefact.suggest import choices
from decision.ir.interface import STORAGE_BYTES
from decision.ir.interfaces.flow_rate import (
    CONGESTION_GAIN,
    GAIN_BITS,
    INFLATION_BITS,
    LINE_RATE_Q30,
    RTT_BITS,
    RTT_SLACK,
    base_rtt_recip_q42,
)
from decision.ir.program import Op
from decision.policy.deciders import Pupil, decider_kind, load_decider
from decision.policy.target import RATIOS, congestion_gain_q28

TIME_SHIFT_MOST = 10
START_WINDOW, START_WINDOW_MOST = 4, 1024
RTT_SPAN = 40
"""Base RTTs that a policy is to tell apart."""
FALCON_PACKET_BYTES = 4096
FALCON_UNIT_PS = 131_072


@dataclass(frozen=True)
class Word:
    """A field of the structure in C. ``low..high``: what the device takes; ``default``: of the firmware as emitted."""

    name: str
    unit: str
    low: int
    high: int
    default: int
    size: int = 4

    @property
    def quantity(self) -> str:
        """Its name without the format."""
        own = {"time_shift": "time_unit", CONGESTION_GAIN: "target_ratio", RTT_SLACK: "rtt_slack"}
        return own.get(self.name) or re.sub(r"(_recip)?_q\d+$|_bytes$", "", self.name)


def words_of(firmware: Path | Opened, target: str | None = None) -> tuple[Word, ...]:
    """The fields in their order. ``target``: of a folder that was emitted for all; by default the folder's own.

    InputError where it is no firmware, or the target is not its own."""
    manifest = of_kind(firmware, "firmware")
    folder = manifest.folder
    target = _target(folder, manifest, target)
    decider = load_decider(manifest)
    if not isinstance(decider, Pupil):
        raise InputError(
            f"{folder} is of {decider_kind(decider)}, which has no observation; set its parameters in its own file"
        )
    program, defaults, fixed = decider.program(), decider.params(), manifest.details.get("fixed", [])
    words: list[Word] = []
    for signal in program.interface.params:
        low, high = signal.settable or signal.range
        default = defaults[signal.name]
        ends = (default, default) if signal.name in fixed else (low, high)
        words.append(Word(signal.name, signal.unit, *ends, default, STORAGE_BYTES[signal.storage]))
    line_rate_bytes = (decider.observation.line_rate or 0) // 8
    if target == "linux-bpf":
        starts = "slow_start_until_q10" in defaults
        words += linux_words(line_rate_bytes, slow_start=starts, opens=not starts and "rate_initial_q30" not in fixed)
    elif target == "falcon-rue":
        events = program.interface.event
        signals = {events[node.imm].name for node in program.nodes if node.op is Op.EVENT}
        sized = "in_flight_bytes" in program.interface.knob_names or "sent_bytes" in signals
        words += _falcon_words(line_rate_bytes, sized=sized)
    return tuple(words)


def linux_words(line_rate_bytes: int, *, slow_start: bool, opens: bool) -> list[Word]:
    """Returns the words of rlcc_tuning behind the parameters (firmware_templates/linux-bpf). ``slow_start``: the policy
    has one of its own; ``opens``: the adapter brings TCP's, and hands the policy the rate that it ends with."""
    return [
        Word("line_rate_bytes", "bytes a second", 1, 1 << 40, line_rate_bytes, 8),
        Word("rate_start_q30", "line rate / 2^30", 0, LINE_RATE_Q30, 1 << (24 if slow_start else 27)),
        Word("time_shift", "2^n ns", 0, TIME_SHIFT_MOST, 0),
        Word("least_of_trip", "0 or 1", 0, 1, 0),
        Word("start_window", "packets", 0, START_WINDOW_MOST, START_WINDOW) if opens else Word("spare", "0", 0, 0, 0),
    ]


def chosen(words: tuple[Word, ...], now: Mapping[str, int], texts: Mapping[str, str]) -> dict[str, int]:
    """The value of every word: what ``texts`` say by its quantity or its name in C, else as it is ``now``, else the
    default. InputError where a name or a unit is none, or a value is out of range."""
    by_name = {w.name: w for w in words if w.name != "spare"}
    by_quantity = {w.quantity: w for w in by_name.values()}
    values = {w.name: now.get(w.name, w.default) for w in words}
    said: dict[str, str] = {}
    for name in texts:
        word = by_name.get(name) or by_quantity.get(name)
        if word is None:
            raise InputError(f"there is nothing called {name!r} to set; choose among {choices(name, by_quantity)}")
        if word.name in said:
            raise InputError(f"{name} and {said[word.name]} are the same field; set it once")
        said[word.name] = name
    if "time_shift" in said and "base_rtt_recip_q42" in by_name and "base_rtt_recip_q42" not in said:
        raise InputError("time_unit changes what base_rtt is counted in; set base_rtt too")
    # In the order in which they say the unit of those after them.
    last = {name for name, word in by_name.items() if name == RTT_SLACK or word.unit == THRESHOLD_UNIT}
    order = sorted(said, key=lambda name: (name == "base_rtt_recip_q42") + 2 * (name in last))
    for name in order:
        word, text = by_name[name], texts[said[name]]
        if said[name] == word.name and word.quantity != word.name:
            values[name] = _whole(word.name, text)
        elif name == "base_rtt_recip_q42":
            base_rtt_ns = _scaled(word.quantity, text, TIME_PS, Fraction(1, 1000), "1 ms")
            if "time_shift" in values and "time_shift" not in said:
                values["time_shift"] = time_shift(base_rtt_ns)
            values[name] = base_rtt_recip_q42(max(base_rtt_ns >> values.get("time_shift", 0), 1))
        elif name == RTT_SLACK:
            slack_ns = _scaled(word.quantity, text, TIME_PS, Fraction(1, 1000), "900 ns")
            values[name] = slack_ns >> values.get("time_shift", 0)
        elif word.unit == THRESHOLD_UNIT and TIME_UNIT.search(text):
            values[name] = _threshold(word, text, values)
        else:
            values[name] = _read(word, text)
        if not word.low <= values[name] <= word.high:
            raise InputError(f"{said[name]}={text} is out of range: {_range(word, values)}")
    if values.get(RTT_SLACK) and RTT_SLACK not in said and values.get("time_shift", 0) != now.get("time_shift", 0):
        raise InputError("the unit of time changes, in which rtt_slack is counted too; set rtt_slack")
    check(words, values)
    return values


def check(words: tuple[Word, ...], values: Mapping[str, int]) -> None:
    """InputError for the first value that the device would not take."""
    for word in words:
        value = values[word.name]
        if not word.low <= value <= word.high:
            raise InputError(f"{word.name} is {value}, out of range: {_range(word, values)}")
    low, high = (values.get(name, 1) for name in ("rate_min_q30", "rate_max_q30"))
    if low > high:
        raise InputError(f"rate_min is above rate_max ({low / 2**30:.4%} and {high / 2**30:.4%} of line rate)")


def packed(words: tuple[Word, ...], values: Mapping[str, int]) -> bytes:
    """The structure's bytes. InputError where a value is out of range."""
    check(words, values)
    content = bytearray()
    for word in words:
        content += bytes(-len(content) % word.size) + values[word.name].to_bytes(word.size, "little")
    return bytes(content) + bytes(-len(content) % max((w.size for w in words), default=1))


def size_of(words: tuple[Word, ...]) -> int:
    """Bytes of the structure."""
    return len(packed(words, {w.name: w.low for w in words}))


def unpacked(words: tuple[Word, ...], content: bytes) -> dict[str, int]:
    """The values in a structure's bytes, whatever they are. InputError where it has another length."""
    if len(content) != size_of(words):
        raise InputError(f"{len(content)} bytes are not this firmware's parameters, which take {size_of(words)}")
    values, at = {}, 0
    for word in words:
        at += -at % word.size
        values[word.name] = int.from_bytes(content[at : at + word.size], "little")
        at += word.size
    return values


def told(word: Word, values: Mapping[str, int]) -> str:
    """The value as a quantity, in the unit that ``chosen`` takes."""
    value = values[word.name]
    if word.unit == "2^42 / ns":
        return f"{2**42 / max(value, 1) * 2 ** values.get('time_shift', 0) / 1000:.6g} us"
    if word.unit == "2^n ns":
        return f"{2**value} ns"
    if word.name == RTT_SLACK:
        return f"{value << values.get('time_shift', 0)} ns"
    if word.name == CONGESTION_GAIN:
        return f"{(2**GAIN_BITS / max(value, 1)) ** 0.5:.6g} x"
    if word.unit == "0 or 1":
        return "yes" if value else "no"
    if word.unit in QUANTITIES:
        return QUANTITIES[word.unit].show(value)
    return str(value)


def time_shift(base_rtt_ns: int) -> int:
    """Returns the shift of the unit of time, 2^shift ns, in which RTT_SPAN base RTTs are below what the policy sees."""
    shift = 0
    while shift < TIME_SHIFT_MOST and base_rtt_ns * RTT_SPAN >> shift >= 1 << RTT_BITS:
        shift += 1
    return shift


@dataclass(frozen=True)
class _Quantity:
    """``units`` as decision.artefact.quantity has them; the device keeps ``raw`` of their base unit each."""

    units: Mapping[str, int | Fraction]
    raw: Fraction
    example: str
    show: Callable[[int], str]


def _of(units: Mapping[str, int | Fraction], raw: Fraction, example: str, unit: str) -> _Quantity:
    return _Quantity(units, raw, example, lambda value: f"{float(value / raw / units[unit]):.6g} {unit}")


THRESHOLD_UNIT = "base RTTs / 2^10"
TIME_UNIT = re.compile(r"[0-9]\s*(ns|us|ms|s)\s*$")
QUANTITIES = {
    "line rate / 2^30": _of(LINE_FRACTION, Fraction(2**30), "12.5 %", "%"),
    THRESHOLD_UNIT: _of({"RTT": 1}, Fraction(2**10), "2 RTT", "RTT"),
    "bytes / 2^2": _of(SIZE_BYTES, Fraction(4), "100 KB", "B"),
    "bytes": _of(SIZE_BYTES, Fraction(1), "1500 B", "B"),
    "bytes a second": _of(RATE_BPS, Fraction(1, 8), "100 Mb/s", "Mb/s"),
    "packets / 2^10": _of({"packets": 1}, Fraction(2**10), "64 packets", "packets"),
    "packets": _of({"packets": 1}, Fraction(1), "64 packets", "packets"),
    "512 ns": _of(TIME_PS, Fraction(1, 512_000), "10 ms", "us"),
    "131.072 ns": _of(TIME_PS, Fraction(1, FALCON_UNIT_PS), "250 us", "us"),
    "packets a 131.072 ns / 2^16": _of(
        {"packets/s": 1}, Fraction(FALCON_UNIT_PS * 2**16, 10**12), "3e6 packets/s", "packets/s"
    ),
}
"""By the unit of a word."""


def _target(folder: Path, manifest: Manifest, asked: str | None) -> str:
    own = str(manifest.details.get("target"))
    if own != "all":
        if asked not in (None, own):
            raise InputError(f"{folder} is firmware for {own}; leave --target {asked} out, or emit it for that")
        return own
    there = [name for name in (*TARGETS, BARE.name) if (folder / name).is_dir()]
    if asked not in there:
        raise InputError(f"{folder} is firmware for several targets; say which by --target, one of {', '.join(there)}")
    return asked


def _whole(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,20}", text):
        raise InputError(f"{name}={text} is what the device keeps: a whole number")
    return int(text)


def _threshold(word: Word, text: str, values: Mapping[str, int]) -> int:
    """Returns the inflation (Q10) that a queueing delay is at the base RTT of ``values``."""
    delay_ns = _scaled(word.quantity, text, TIME_PS, Fraction(1, 1000), "16 us") >> values.get("time_shift", 0)
    return (1 << INFLATION_BITS) + round(Fraction(delay_ns * values["base_rtt_recip_q42"], 1 << (42 - INFLATION_BITS)))


def _read(word: Word, text: str) -> int:
    """Returns the number that the device stores for a quantity, rounded to nearest."""
    if word.unit == "2^n ns":
        unit_ns = _scaled(word.quantity, text, TIME_PS, Fraction(1, 1000), "16 ns")
        if unit_ns not in [2**n for n in range(word.high + 1)]:
            raise InputError(f"{word.quantity}={text} is out of range: {_range(word, {})}")
        return unit_ns.bit_length() - 1
    if word.name == CONGESTION_GAIN:
        try:
            ratio = parse(text, {"x": 1}, "2 x")
        except InputError as error:
            raise InputError(f"{word.quantity}: {error}") from None
        if not RATIOS[0] <= ratio <= RATIOS[1]:
            raise InputError(f"{word.quantity}={text} is out of range: {_range(word, {})}")
        return congestion_gain_q28(float(ratio))
    if word.unit == "0 or 1":
        if text not in ("yes", "no"):
            raise InputError(f"{word.quantity}={text} is neither yes nor no")
        return int(text == "yes")
    if word.unit not in QUANTITIES:
        return _whole(word.quantity, text)
    by = QUANTITIES[word.unit]
    value = _scaled(word.quantity, text, by.units, by.raw, by.example)
    # Contexts keep 30 bits of a rate: line rate stands there as 2^-30 of it less.
    return LINE_RATE_Q30 if by.units is LINE_FRACTION and value == LINE_RATE_Q30 + 1 else value


def _scaled(name: str, text: str, units: Mapping[str, int | Fraction], raw: Fraction, example: str) -> int:
    try:
        value = parse(text, units, example) * raw
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    if value and not round(value):
        raise InputError(f"{name}={text} is less than the device can tell from 0")
    return round(value)


def _range(word: Word, values: Mapping[str, int]) -> str:
    """In quantities, and as the device keeps it."""
    if word.low == word.high:
        return f"it was fixed when the firmware was emitted, at {word.low}"
    if word.unit == "2^n ns":
        return f"it takes 1, 2, 4 .. {2**word.high} ns"
    ends = [told(word, {**values, word.name: end}) for end in (word.low, word.high)]
    if word.unit == "2^42 / ns" or word.name == CONGESTION_GAIN:
        ends.reverse()
    return f"it takes {ends[0]} to {ends[1]} ({word.name} {word.low}..{word.high})"


def _falcon_words(line_rate_bytes: int, *, sized: bool) -> list[Word]:
    """Returns the words of rlcc_rue_params behind the policy's (firmware_templates/falcon-rue)."""
    mega = line_rate_bytes // 10**6
    line_q16 = mega * FALCON_UNIT_PS * 2**16 // (FALCON_PACKET_BYTES * 10**6)
    words = [
        Word("line_q16", "packets a 131.072 ns / 2^16", 1, 2**24 - 1, line_q16),
        Word("window_most_q10", "packets / 2^10", 1024, 2**21 - 1, 262144),
        Word("nic_window", "packets", 1, 2047, 64),
        Word("gap_most", "512 ns", 1, 2**20 - 1, 65535),
        Word("retransmit_least", "131.072 ns", 1, 2**24 - 1, 1907),
    ]
    return [*words, *([Word("packet_bytes", "bytes", 1, 65535, FALCON_PACKET_BYTES)] if sized else [])]

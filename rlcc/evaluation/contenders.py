"""Contenders: `[LABEL=]POLICY[@target:RATIO][@LATENCY]` or `[LABEL=]FIRMWARE[@target:RATIO]@CORE`.

lstm=fixtures/teachers/rl-cc-lstm-small@450us     a label, a path, what a decision takes
runs/rl-cc/firmware                               by default the firmware's slowest vector on the emulated engine
loose=runs/rl-cc/firmware@target:10               the operator's target turned to ten times the trained one
runs/rl-cc/firmware@ibex-small                    the core itself decides: each decision takes its own cycles
runs/rl-cc/firmware@rtl:ibex-small                the same on the Verilated core
hpcc                                              a baseline by its name; it acts at once, as in a NIC
rl-cc/firmware@25%+dcqcn@75%                      several in one network, each with so much of the flows (mixing.py)
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.manifest import NAME as MANIFEST
from decision.artefact.manifest import Opened, sha256
from decision.artefact.quantity import TIME_PS, parse_duration_ps
from decision.policy.target import target_ratio
from emulator.profile import load_profile
from emulator.run import emulate
from netsim import baselines
from netsim.baselines import BaselineSpec
from netsim.engines import Engines
from netsim.mixes import Mix, Part, Steering
from netsim.policies import turned
from netsim.simulation import DECISION_LATENCY_PS
from rlcc.core_policy import CoreName, core_name
from rlcc.evaluation.mixing import LABEL, MixArgument, parse_mix
from rlcc.policies import NONE, NamedPolicy, Read, by_name_or_path, kind_of, on_core

TARGET = "target:"

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Argument:
    """One POLICY as it was written. ``decision_latency_ps``, ``core`` and ``target_ratio`` None: not said."""

    label: str | None
    policy: str
    decision_latency_ps: int | None
    core: CoreName | None = None
    target_ratio: float | None = None

    def turned(self, named: NamedPolicy) -> NamedPolicy:
        """At the operator's target, where one was said."""
        if self.target_ratio is None:
            return named
        if isinstance(named.policy, BaselineSpec):
            raise InputError(f"{self.policy} is a baseline, which has no trained target; leave @{TARGET}.. out")
        try:
            policy = turned(named.policy, self.target_ratio)
        except InputError as error:
            raise InputError(f"{self.policy}: {error}") from None
        return replace(named, policy=policy)


@dataclass(frozen=True, eq=False)
class Contender:
    """A policy under its label. ``decision_latency_ps`` is 0 for a baseline, which is asked at every ACK instead, and
    where a ``core`` decides, which says itself what each decision takes. ``engines`` None: no decision waits.
    ``policy`` is a firmware's folder or a name where a real kernel runs it (rlcc.evaluation.linux)."""

    label: str
    name: str
    kind: str
    hash: str
    policy: Steering | Mix | str
    decision_latency_ps: int
    core: CoreName | None = None
    core_hash: str | None = None
    engines: Engines | None = None

    @property
    def simulated(self) -> Steering | Mix:
        """The policy, or the mix, of whoever competes in netsim."""
        assert not isinstance(self.policy, str), f"{self.label} competes on a real kernel"
        return self.policy

    @property
    def alone(self) -> Steering:
        """The policy, of whoever has a network for itself."""
        assert not isinstance(self.simulated, Mix), f"{self.label} is a mix"
        return self.simulated


def parse(text: str) -> Argument:
    """Take the label off the front, latency or core off the end; neither where the whole text is a path."""
    if Path(text).exists():
        return Argument(None, text, None)
    front, equals, rest = text.partition("=")
    label = front if equals and LABEL.match(front) else None
    policy = rest if label is not None else text
    latency = core = ratio = None
    if not Path(policy).exists() and "@" in policy:
        policy, _, behind = policy.rpartition("@")
        if not behind.startswith(TARGET):
            core = core_name(behind)
            latency = _latency(text, behind) if core is None else None
            before, _, behind = policy.rpartition("@")
            policy = before if behind.startswith(TARGET) else policy
        if behind.startswith(TARGET):
            ratio = _ratio(text, behind.removeprefix(TARGET))
    if not policy:
        raise InputError(f"{text!r} names no policy; write [LABEL=]POLICY[@LATENCY], for example tree=firmware@0.9us")
    return Argument(label, policy, latency, core, ratio)


def _latency(text: str, behind: str) -> int:
    try:
        return parse_duration_ps(behind)
    except InputError as error:
        words = f"what follows @ is the time of a decision, an engine profile, rtl: and one, or {TARGET} and a ratio"
        raise InputError(f"{text}: {words}: {error}") from None


def _ratio(text: str, behind: str) -> float:
    try:
        return target_ratio(float(behind))
    except ValueError as error:
        raise InputError(f"{text}: what follows @{TARGET} is the target over the trained one: {error}") from None


def firmware_folders(texts: Sequence[str]) -> list[Path]:
    """The firmware folders among what was written, each once: their C will be compiled, and runs in this process unless
    an emulated core runs it."""
    mixes = [parse_mix(text) for text in texts]
    alone = [text for text, mix in zip(texts, mixes, strict=True) if mix is None]
    alone += [share.policy for mix in mixes if mix is not None for share in mix.shares]
    paths = dict.fromkeys(Path(parse(text).policy) for text in alone)
    return [path for path in paths if (path / MANIFEST).is_file() and kind_of(path) == "firmware"]


@contextmanager
def opened(
    texts: Sequence[str],
    *,
    decision_latency_ps: int | None,
    profile: str,
    engines: Engines | None = None,
    progress: Progress | None = None,
    read: Read = NONE,
) -> Iterator[list[Contender]]:
    """The contenders, as long as the context lasts. A decision takes what is written behind its policy, else
    ``decision_latency_ps``, else what the engine ``profile`` takes for a firmware's slowest vector, else 0.9 us. All
    but baselines decide on ``engines``. ``read``: firmware that was read, and checked, before."""
    mixes = [parse_mix(text) for text in texts]
    arguments = [None if mix else parse(text) for text, mix in zip(texts, mixes, strict=True)]
    load_profile(profile)
    with ExitStack() as stack:
        emulated: dict[str, int] = {}

        def one(argument: Argument) -> Contender:
            if argument.core is not None:
                return _on_core(argument, argument.core, engines, read)
            named = argument.turned(stack.enter_context(by_name_or_path(argument.policy, read)))
            said = argument.decision_latency_ps
            if named.kind == "baseline":
                if said is not None:
                    raise InputError(f"{argument.policy} is a baseline, which acts at once; leave @ and the time out")
                latency = 0
            elif said is not None or decision_latency_ps is not None:
                latency = said if said is not None else decision_latency_ps or 0
            elif named.kind == "firmware":
                if named.hash not in emulated:
                    path = Path(argument.policy)
                    emulated[named.hash] = emulated_latency_ps(read.get(path, path), profile, progress)
                latency = emulated[named.hash]
            else:
                latency = DECISION_LATENCY_PS
            label = argument.label or _label(named.name, named.kind, said, argument.target_ratio)
            contender = Contender(label, named.name, named.kind, named.hash, named.policy, latency)
            return contender if named.kind == "baseline" else replace(contender, engines=engines)

        contenders = []
        for mix, argument in zip(mixes, arguments, strict=True):
            if argument is not None:
                contenders.append(one(argument))
            elif mix is not None:
                contenders.append(_mixed(mix, [one(parse(share.policy)) for share in mix.shares], engines))
        labels = [c.label for c in contenders]
        for label in labels:
            if labels.count(label) > 1:
                raise InputError(f"two policies are called {label!r}; tell them apart: one=POLICY other=POLICY")
        yield contenders


def _mixed(mix: MixArgument, parts: Sequence[Contender], engines: Engines | None) -> Contender:
    pairs = list(zip(mix.shares, parts, strict=True))
    steering = [Part(part.alone, share.percent, share.klass, part.decision_latency_ps) for share, part in pairs]
    written = " + ".join(f"{part.label} {share.percent}" for share, part in pairs)
    told = [[part.hash, part.decision_latency_ps, str(part.core), str(share)] for share, part in pairs]
    name = "+".join(part.name for part in parts)
    return Contender(
        mix.label or written, name, "mix", sha256(repr(told).encode()), Mix(tuple(steering)), 0, engines=engines
    )


def _on_core(argument: Argument, core: CoreName, engines: Engines | None, read: Read) -> Contender:
    if not Path(argument.policy).exists() and argument.policy in baselines.names():
        raise InputError(f"{argument.policy} is a baseline, which acts at once; leave @ and the engine out")
    named = argument.turned(on_core(Path(argument.policy), core, read))
    label = argument.label or _targeted(named.name, argument.target_ratio) + f" on {core}"
    core_hash = load_profile(core.profile).hash()
    return Contender(label, named.name, named.kind, named.hash, named.policy, 0, core, core_hash, engines)


def emulated_latency_ps(firmware: Path | Opened, profile: str, progress: Progress | None = None) -> int:
    """Returns the time of the slowest vector on the engine, in ps."""
    report = emulate(firmware, profile=profile, progress=progress)
    if report.cycles is None:
        place = firmware if isinstance(firmware, Path) else firmware.folder
        raise InputError(f"{place} did not run on {report.profile}, so its decision time is not known; give @TIME")
    return round(report.cycles.max * TIME_PS["s"] / (report.clock_mhz * 1e6))


def latency_text(contender: Contender) -> str:
    """`0.9 us`, or the core whose cycles count; a baseline decides nothing once an RTT."""
    if contender.kind == "baseline" or isinstance(contender.policy, str):
        return "-"
    if isinstance(contender.policy, Mix):
        parts = contender.policy.parts
        return " + ".join("-" if isinstance(p.policy, BaselineSpec) else _us(p.latency_ps or 0) for p in parts)
    return _us(contender.decision_latency_ps) if contender.core is None else str(contender.core)


def _us(ps: int) -> str:
    return f"{ps / 1e6:.4g} us"


def engines_text(engines: Engines | None) -> str:
    """`4, coalesce, queue 16`; `-`: no decision waits for an engine."""
    if engines is None:
        return "-"
    queue = [] if engines.depth is None else [f"queue {engines.depth}"]
    return ", ".join([str(engines.of_nic), engines.overload, *queue])


def _label(name: str, kind: str, said_ps: int | None, ratio: float | None) -> str:
    label = _targeted(name if kind == "baseline" else f"{name} {kind}", ratio)
    return label if said_ps is None else f"{label} {said_ps / 1e6:g} us"


def _targeted(label: str, ratio: float | None) -> str:
    return label if ratio is None else f"{label} target {ratio:g}"

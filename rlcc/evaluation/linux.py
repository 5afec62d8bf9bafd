"""`rlcc evaluate --stack linux`: the cells of an evaluation on a real kernel's TCP (emulator.linux), a boot a run.

A scenario's flows are those of netsim's by its name, one switch and one receiver, in a network of 1 Gb/s; a bottleneck
of 100 Mb/s is that network ten times slower, so times are stretched tenfold and sizes are the same.
"""

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.artefact.manifest import same_artefact
from decision.artefact.processors import usable_cores
from decision.artefact.quantity import parse_duration_ps, parse_rate_bps, parse_size_bytes
from emulator.linux.cell import FRAME_BYTES, PAYLOAD_BYTES, STOCK, Bottleneck, Control, Seen, TcpFlow, run
from emulator.linux.parts import Parts, agent
from netsim.metrics import completion
from netsim.network import Network
from netsim.result_store import FORMAT, Kept, Outcome
from netsim.samples import Samples
from netsim.scenarios import Scenario, instantiate
from netsim.trials import Progress
from rlcc.evaluation.contenders import Contender, parse
from rlcc.evaluation.grid import EARLY_PS, Cell, Grid, Results, Times
from rlcc.evaluation.linux_control import control, firmware_of

SCENARIOS = ("many-to-one:1", "many-to-one:8", "many-to-one:32")
PATH = "100 Mb/s, 1 ms, 100 KB"
DURATION_PS = 3 * 10**12
METRICS = ("goodput", "rtt_mean_us", "rtt_p99_us", "queue_mean_bytes", "jain", "retransmits", "dropped_packets")
"""Of the table, where none are asked for."""
SHOWN_FLOWS = 16
JITTER_US = 10_000
"""Within which flows that do not end start."""
MODEL_GBPS = 1
"""The slowest network that netsim has whole picoseconds a byte for."""


def bottleneck(text: str) -> Bottleneck:
    """`100 Mb/s, 1 ms, 100 KB[, 12 KB-24 KB]`: rate, RTT, queue, and between which queues it marks."""
    parts = [part.strip() for part in text.split(",")]
    try:
        if len(parts) not in (3, 4):
            raise InputError("write its rate, RTT and queue, and where it marks")
        low, _, high = parts[3].partition("-") if len(parts) == 4 else ("", "", "")
        marking = (parse_size_bytes(low.strip()), parse_size_bytes((high or low).strip())) if low else None
        return Bottleneck(parse_rate_bps(parts[0]), parse_duration_ps(parts[1]), parse_size_bytes(parts[2]), marking)
    except InputError as error:
        raise InputError(f"path {text!r}: {error}, for example '{PATH}, 12 KB-24 KB'") from None


def network(path: Bottleneck) -> Network:
    """The path in netsim's words, its times as they are in the guest: what pictures and doubts ask of a network."""
    return Network(
        link_gbps=MODEL_GBPS,
        payload_bytes=PAYLOAD_BYTES,
        wire_overhead_bytes=FRAME_BYTES - PAYLOAD_BYTES,
        base_rtt_ps=path.delay_ps,
        one_way_ps=path.delay_ps,
    )


def cells(scenarios: Sequence[str], paths: Sequence[str], times: Times) -> tuple[Cell, ...]:
    """Every scenario on every path; a path is named where there are several."""
    made = []
    for text in dict.fromkeys(paths):
        path = bottleneck(text)
        for name in dict.fromkeys(scenarios):
            title = name if len(set(paths)) == 1 else f"{name} {text}"
            made.append(Cell(title, name, times, network(path), path))
    return tuple(made)


def contenders(texts: Sequence[str]) -> list[Contender]:
    """`[LABEL=]FIRMWARE` or `[LABEL=]cubic`; the kernel's own have their names for a hash."""
    made = []
    for text in texts:
        argument = parse(text)
        if argument.core is not None or argument.decision_latency_ps is not None:
            raise InputError(f"{text}: on a real kernel a decision takes what it takes; leave @ and the time out")
        if argument.target_ratio is not None:
            raise InputError(
                f"{text}: on a real kernel the target is a parameter of the loaded object; leave @target out"
            )
        if argument.policy in STOCK:
            name, kind, digest = argument.policy, "kernel", argument.policy
        elif Path(argument.policy).exists():
            manifest = firmware_of(Path(argument.policy))
            name, kind, digest = manifest.details["policy"], "firmware", manifest.hash
        else:
            raise InputError(
                f"there is no {argument.policy}, neither a firmware folder nor one of the kernel's {', '.join(STOCK)}"
            )
        label = argument.label or (name if kind == "kernel" else f"{name} {kind}")
        made.append(Contender(label, name, kind, digest, argument.policy, 0))
    labels = [c.label for c in made]
    for label in labels:
        if labels.count(label) > 1:
            raise InputError(f"two policies are called {label!r}; tell them apart: one=POLICY other=POLICY")
    return made


def flows_of(cell: Cell, seed: int) -> tuple[Scenario, list[TcpFlow]]:
    """The scenario in the network of MODEL_GBPS, and its flows in the guest's time."""
    assert cell.path is not None
    slower = MODEL_GBPS * 10**9 / cell.path.rate_bps
    scenario = instantiate(cell.scenario, seed, round(cell.times.duration_ps / slower), network(cell.path))
    if scenario.topology is not None or scenario.receivers != 1:
        raise InputError(f"{cell.scenario}: the guest has one bottleneck; choose a scenario of one receiver, no fabric")
    sizes = scenario.size_bytes(PAYLOAD_BYTES)
    columns = (scenario.column("start_ps"), scenario.column("packets"), sizes, scenario.column("period_ps"))
    jitter_us = np.random.default_rng(seed).integers(0, JITTER_US, len(scenario.flows))
    flows = [
        TcpFlow(
            round(float(start) * slower / 1e6) + (0 if packets else int(jitter)),
            int(size) if packets else 0,
            round(float(period) * slower / 1e6),
        )
        for start, packets, size, period, jitter in zip(*columns, jitter_us, strict=True)
    ]
    return scenario, flows


def run_grid(grid: Grid, parts: Parts, *, keep: Kept | None = None, progress: Progress | None = None) -> Results:
    """Boot a guest for each run that is not kept yet, as many at a time as there are processors."""
    runs = grid.runs()
    done = 0

    def one(asked: tuple[Contender, Cell, int]) -> Outcome:
        nonlocal done
        outcome = _outcome(*asked, parts, keep)
        done += 1
        if progress is not None:
            progress(f"{done} of {len(runs)} guests")
        return outcome

    with ThreadPoolExecutor(min(len(runs), usable_cores())) as pool:
        return Results(grid, list(pool.map(one, runs)))


def stored_outcome(contender: Contender, cell: Cell, seed: int, parts: Parts, keep: Kept) -> Outcome | None:
    """A run that is there already."""
    return keep.load(_key(_control(contender, cell), cell, flows_of(cell, seed)[1], seed, parts))


def _outcome(contender: Contender, cell: Cell, seed: int, parts: Parts, keep: Kept | None) -> Outcome:
    assert cell.path is not None
    scenario, flows = flows_of(cell, seed)
    who, duration_us = _control(contender, cell), cell.times.duration_ps // 10**6
    key = _key(who, cell, flows, seed, parts)
    if keep is not None and (there := keep.load(key)) is not None:
        return there
    seen = run(parts, cell.path, [who], flows, seed=seed, duration_us=duration_us)
    outcome = Outcome(len(flows), measured(seen, scenario, cell, flows), samples=_samples(seen, cell, len(flows)))
    if keep is not None:
        keep.save(key, outcome)
    return outcome


def _control(contender: Contender, cell: Cell) -> Control:
    assert cell.path is not None
    assert isinstance(contender.policy, str)
    if contender.kind != "firmware":
        return Control(contender.name)
    return control(same_artefact(firmware_of(Path(contender.policy)), contender.hash), cell.path)


def _key(who: Control, cell: Cell, flows: Sequence[TcpFlow], seed: int, parts: Parts) -> str:
    """Returns the hash of all that goes into a run."""
    told = [FORMAT, parts.hash, who.name, asdict(cell.times), str(cell.path), [asdict(f) for f in flows], seed]
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    for content in (who.program or b"", who.tuning or b"", *agent().values()):
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


def measured(seen: Seen, scenario: Scenario, cell: Cell, flows: Sequence[TcpFlow]) -> dict[str, float]:
    """netsim's metrics by their names, as far as a kernel tells them (docs/how-to/linux.md)."""
    path = cell.path
    assert path is not None
    begin, end = (edge // 10**6 for edge in cell.times.window_ps)
    seconds, line = (end - begin) / 1e6, path.rate_bps / 8
    queue, start = _within(seen.queue, begin, end), _within(seen.queue, 0, EARLY_PS // 10**6)
    acknowledged = _acknowledged(seen, len(flows), end) - _acknowledged(seen, len(flows), begin)
    rtt = _within(seen.flows, begin, end)[:, 2].astype(np.float64)
    waits_us = queue[:, 1] / line * 1e6
    sent_us = FRAME_BYTES / line * 1e6
    finite = seen.completed[(seen.completed[:, 2] > begin) & (seen.completed[:, 2] <= end)]
    goodput = acknowledged.sum() if not scenario.finite else finite[:, 3].sum()
    retransmits = _last(seen, 4, len(flows), end) - _last(seen, 4, len(flows), begin)
    figures = {
        "goodput": goodput / (line * seconds),
        "utilisation": float(queue[-1, 4] - queue[0, 4]) * FRAME_BYTES / (line * (queue[-1, 0] - queue[0, 0]) / 1e6),
        "latency_mean_us": sent_us + float(waits_us.mean()),
        "latency_p50_us": sent_us + float(np.quantile(waits_us, 0.5)),
        "latency_p99_us": sent_us + float(np.quantile(waits_us, 0.99)),
        "rtt_mean_us": float(rtt.mean()) if rtt.size else np.nan,
        "rtt_p50_us": float(np.quantile(rtt, 0.5)) if rtt.size else np.nan,
        "rtt_p99_us": float(np.quantile(rtt, 0.99)) if rtt.size else np.nan,
        "rtt_inflation_mean": float(rtt.mean()) / (path.delay_ps * 1e-6) if rtt.size else np.nan,
        "queue_mean_us": float(waits_us.mean()),
        "queue_mean_bytes": float(queue[:, 1].mean()),
        "queue_max_bytes": float(queue[:, 1].max()),
        "dropped_packets": float(queue[-1, 2] - queue[0, 2]),
        "marked_packets": float(queue[-1, 3] - queue[0, 3]),
        "loss": _share(queue[-1, 2] - queue[0, 2], queue[-1, 4] - queue[0, 4]),
        "early_loss": _share(start[-1, 2], start[-1, 4]),
        "start_dropped_packets": float(_within(seen.queue, 0, begin)[-1, 2]),
        "retransmits": float(retransmits.sum()),
        "broken_connections": float(seen.failed),
        "data_packets": float(queue[-1, 4] - queue[0, 4]),
    }
    if scenario.finite:
        return figures | _completions(finite, path, scenario)
    figures["jain"] = float(acknowledged.sum()) ** 2 / (len(flows) * float((acknowledged**2).sum()) or np.nan)
    sent, acks = (_last(seen, c, len(flows), end) - _last(seen, c, len(flows), begin) for c in (7, 8))
    figures["packets_per_ack"] = _ratio(sent.sum(), acks.sum())
    figures["fairness_min_max"] = float(acknowledged.min()) / (float(acknowledged.max()) or np.nan)
    return figures


def _completions(finite: NDArray[np.int64], path: Bottleneck, scenario: Scenario) -> dict[str, float]:
    """Returns the metrics by netsim's own definitions; alone a flow takes a handshake, its packets on the wire and the
    path's RTT."""
    window = {
        "completed_flow": finite[:, 0],
        "completed_start_ps": finite[:, 1] * 10**6,
        "completed_finish_ps": finite[:, 2] * 10**6,
        "completed_alone_ps": alone_ps(finite[:, 3], path),
    }
    return completion(
        window, scenario, Network(payload_bytes=PAYLOAD_BYTES, wire_overhead_bytes=FRAME_BYTES - PAYLOAD_BYTES)
    )


def alone_ps(size: NDArray[np.int64], path: Bottleneck) -> NDArray[np.float64]:
    """Returns the time of a flow with this number of bytes on an empty path."""
    packets = -(-size // PAYLOAD_BYTES)
    wire = size + packets * (FRAME_BYTES - PAYLOAD_BYTES)
    return 2.0 * path.delay_ps + wire * 8e12 / path.rate_bps


def _within(rows: NDArray[np.int64], begin: int, end: int) -> NDArray[np.int64]:
    part = rows[(rows[:, 0] >= begin) & (rows[:, 0] <= end)]
    if not part.size:
        raise InputError(f"nothing was sampled between {begin} and {end} us; give a longer --duration")
    return part


def _last(seen: Seen, column: int, flows: int, at: int) -> NDArray[np.float64]:
    """Returns for each flow [flows] the value of its last sample until ``at``."""
    rows = seen.flows[seen.flows[:, 0] <= at]
    values = np.zeros(flows)
    values[rows[:, 1]] = rows[:, column]  # the last assignment to an index stands
    return values


def _acknowledged(seen: Seen, flows: int, at: int) -> NDArray[np.float64]:
    return _last(seen, 3, flows, at)


def _ratio(part: float, total: float) -> float:
    return float(part) / float(total) if total else np.nan


def _share(part: float, total: float) -> float:
    return float(part) / float(part + total) if part + total else np.nan


def _samples(seen: Seen, cell: Cell, flows: int) -> Samples:
    """The run over time, at the times when flows were sampled."""
    t = np.unique(seen.flows[:, 0])
    queue = seen.queue
    at = np.searchsorted(queue[:, 0], t, side="right") - 1
    acknowledged = np.zeros((len(t), flows))
    row = np.searchsorted(t, seen.flows[:, 0])
    acknowledged[row, seen.flows[:, 1]] = seen.flows[:, 3]
    grown = np.maximum(np.diff(acknowledged, axis=0, prepend=0.0), 0.0)
    gbps = grown * 8e-3 / np.maximum(np.diff(t, prepend=0), 1)[:, None]
    shown = np.unique(np.linspace(0, flows - 1, min(SHOWN_FLOWS, flows)).astype(int))
    begin, end = (edge // 10**6 for edge in cell.times.window_ps)
    done = seen.completed[(seen.completed[:, 2] > begin) & (seen.completed[:, 2] <= end)]
    assert cell.path is not None
    took = (done[:, 2] - done[:, 1]) * 1e6
    return Samples(
        t_us=t.astype(np.float32),
        queue_bytes=queue[at, 1].astype(np.float32),
        flow_gbps=gbps[:, shown].astype(np.float32),
        mean_gbps=gbps.mean(axis=1).astype(np.float32),
        dropped=np.diff(queue[at, 2], prepend=0).astype(np.int32),
        completed_bytes=done[:, 3],
        completed_slowdown=(took / alone_ps(done[:, 3], cell.path)).astype(np.float32),
    )

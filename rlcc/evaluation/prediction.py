"""`rlcc evaluate --stack linux --predict`: what netsim says of the cells that a kernel carried, and how far it is off.

The same flows in the same path, as many times faster as 1 Gb/s is than the bottleneck, its times stretched again.
Differences of TCP from a NIC are modelled, or left out and listed:

    a packet at a time      no bursts: the kernel paces packet by packet (fq, or TCP's own timers)
    RTT of the decision     of a packet and of the newest one, so a probe of a byte behind each
    base RTT                the path's delay: a shaper lets a packet that finds tokens go at once, so the transmission
                            that netsim counts into it is taken off the links' delays
    delayed ACKs            netsim's RTT has none. TCP's smoothed RTT is of the oldest packet that an ACK covers, which
                            waits for those after it: (packets an ACK - 1) x the distance between a flow's packets.
                            How many packets an ACK covers is the kernel's to say (packets_per_ack)
    the start               is not predicted: flows begin at half their share, and SETTLING runs pass before the window
    losses, flows that end  are not: TCP's way of sending again, and its handshake, are its own
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.manifest import opened, same_artefact
from decision.ir.interfaces.flow_rate import LINE_RATE_Q30
from emulator.linux.cell import FRAME_BYTES, PAYLOAD_BYTES, Bottleneck
from emulator.linux.parts import machine_parts
from netsim.network import Network
from netsim.policies import IntegerPolicy
from netsim.result_store import Kept, Outcome
from netsim.scenarios import Flows
from netsim.topology import Port, Topology
from netsim.trials import Progress, Trial
from netsim.trials import run as run_trials
from rlcc.evaluation.contenders import Contender
from rlcc.evaluation.grid import Cell, Grid, Results, Times
from rlcc.evaluation.linux import JITTER_US, MODEL_GBPS, cells, contenders, flows_of, run_grid
from rlcc.policies import by_path

SETTLING = 4
"""With a base RTT of 10 ms, 8 flows that begin at half their share take three seconds to come to it."""
LINK_PS = 1_000
"""Of each link in netsim; the rest of the RTT is on the way back."""
GOODPUT, RTT, QUEUE_BYTES = 0.01, 0.05, 2 * FRAME_BYTES
"""How far a prediction may be off: relative, relative, absolute."""
FAIR = 0.95
"""Jain's index below which flows have not come to their shares in the window."""

ALONE = "a lone flow is paced at the line's very rate, so a packet that waits once waits on; netsim's never does"


@dataclass(frozen=True)
class Figures:
    """Figures of a cell, means over seeds: share of the rate, us, bytes."""

    goodput: float
    rtt_us: float
    queue_bytes: float


@dataclass(frozen=True)
class Compared:
    """A cell under a firmware. ``reason``: why it does not hold, as far as the run says; empty where it holds."""

    cell: str
    policy: str
    netsim: Figures
    linux: Figures
    reason: str = ""

    @property
    def rtt_off(self) -> float:
        """Relative."""
        return self.linux.rtt_us / self.netsim.rtt_us - 1

    @property
    def queue_off_bytes(self) -> float:
        return self.linux.queue_bytes - self.netsim.queue_bytes

    @property
    def failing(self) -> list[str]:
        """Returns the figures that are further off than allowed."""
        near = {
            "goodput": abs(self.linux.goodput / self.netsim.goodput - 1) <= GOODPUT,
            "RTT": abs(self.rtt_off) <= RTT,
            "queue": abs(self.queue_off_bytes) <= QUEUE_BYTES,
        }
        return [name for name, holds in near.items() if not holds]


def check(contenders: Sequence[Contender], cells: Sequence[Cell]) -> None:
    """InputError where there is nothing to predict, before a guest boots."""
    predicted = [cell for cell in cells if not flows_of(cell, 1)[0].finite]
    if not predicted or not any(c.kind == "firmware" for c in contenders):
        raise InputError("--predict: netsim predicts firmware whose flows do not end; give both, as in many-to-one:8")
    for cell in predicted:
        assert cell.path is not None
        topology(cell.path, 1)


def grid(firmware: Path, paths: Sequence[str], scenarios: Sequence[str], duration_ps: int, seed: int) -> Grid:
    """The firmware alone in these cells. InputError where it is not the kernel's, or there is nothing to predict."""
    asked = Grid(
        tuple(contenders([f"{firmware.name}={firmware}"])), cells(scenarios, paths, Times.of(duration_ps)), (seed,)
    )
    check(asked.contenders, asked.cells)
    return asked


def hold(asked: Grid, progress: Progress) -> list[Compared]:
    """Boot the guests, and set netsim beside them."""
    return compare(run_grid(asked, machine_parts(progress), progress=progress))


def compare(results: Results, keep: Kept | None = None) -> list[Compared]:
    """Every firmware of the grid in every cell whose flows do not end."""
    grid, compared = results.grid, []
    for contender in grid.contenders:
        if contender.kind != "firmware":
            continue
        place = Path(str(contender.policy))
        with by_path(place, {place: same_artefact(opened(place, "firmware"), contender.hash)}) as named:
            assert isinstance(named.policy, IntegerPolicy)
            for cell in grid.cells:
                if flows_of(cell, grid.seeds[0])[0].finite:
                    continue
                trials = [trial(cell, named.policy, contender.label, seed) for seed in grid.seeds]
                compared.append(_compared(contender, cell, run_trials(trials, keep=keep), results))
    return compared


def trial(cell: Cell, policy: IntegerPolicy, name: str, seed: int) -> Trial:
    """The cell in netsim."""
    assert cell.path is not None
    scenario, _ = flows_of(cell, seed)
    flows, slower = len(scenario.flows), _slower(cell.path)
    installed = policy.installed
    header, first = installed.header, {"rate_initial_q30": LINE_RATE_Q30 // (2 * flows)}
    if header is not None:
        # Delays are those of the path, not of the model that is faster.
        first |= {} if header.start is None else header.start.delays(cell.path.delay_ps // 1000)
        header = header.model_copy(update={"probes": None, "start": None})
    before = SETTLING * cell.times.duration_ps
    begin, end = (round((before + edge) / slower) for edge in cell.times.window_ps)
    return Trial(
        replace(scenario, hosts=flows, flows=Flows(host=range(flows)), topology=topology(cell.path, flows)),
        replace(policy, installed=replace(installed, params={**installed.params, **first}, header=header)),
        seed=seed,
        duration_ps=round((before + cell.times.duration_ps) / slower),
        window_ps=(begin, end),
        decision_latency_ps=0,
        network=network(cell.path),
        name=name,
    )


def network(path: Bottleneck) -> Network:
    """The path, faster by ``_slower``; what TCP does otherwise than a NIC stands above."""
    return Network(
        link_gbps=MODEL_GBPS,
        payload_bytes=PAYLOAD_BYTES,
        wire_overhead_bytes=FRAME_BYTES - PAYLOAD_BYTES,
        probe_wire_bytes=1,
        buffer_bytes=path.queue_bytes,
        burst_packets=1,
        message_packets=1,
        inflight_messages=4096,
        probe_gap_ps=0,
        start_jitter_ps=round(JITTER_US * 10**6 / _slower(path)),
    )


def topology(path: Bottleneck, hosts: int) -> Topology:
    """A host a flow, so that none waits for another before the bottleneck. InputError where the path is too short."""
    link = Port(0, MODEL_GBPS, LINK_PS)
    there = Topology("path", hosts, 1, 1, MODEL_GBPS, (0,) * hosts, LINK_PS, (link,), 0, FRAME_BYTES, 1)
    answer_ps = round(path.delay_ps / _slower(path)) - there.base_rtt_ps
    if answer_ps < 0:
        raise InputError(
            f"--predict: the path's RTT of {path.delay_ps / 1e6:g} us is less than a packet's "
            f"{path.packet_ps / 1e6:g} us, which netsim receives whole; give a faster or a longer path"
        )
    return replace(there, answer_ps=answer_ps)


def figures(outcome: Outcome, path: Bottleneck, packets_per_ack: float) -> Figures:
    """A run of ``trial`` as the kernel's counters would show it, where an ACK covers so many packets."""
    got = outcome.metrics
    wait_us = got["queue_mean_us"] * _slower(path)
    distance_us = outcome.flows * path.packet_ps * 1e-6 / got["utilisation"]
    return Figures(
        got["goodput"],
        path.delay_ps * 1e-6 + wait_us + (packets_per_ack - 1) * distance_us,
        wait_us * 1e-6 * path.rate_bps / 8 * got["utilisation"],
    )


def _slower(path: Bottleneck) -> float:
    return MODEL_GBPS * 10**9 / path.rate_bps


def _compared(contender: Contender, cell: Cell, outcomes: Sequence[Outcome], results: Results) -> Compared:
    assert cell.path is not None
    runs = [outcome.metrics for outcome in results.of(contender, cell)]
    both = zip(outcomes, runs, strict=True)
    predicted = _mean([figures(outcome, cell.path, run["packets_per_ack"]) for outcome, run in both])
    seen = _mean([Figures(m["goodput"], m["rtt_mean_us"], m["queue_mean_bytes"]) for m in runs])
    compared = Compared(cell.name, contender.label, predicted, seen)
    if not compared.failing:
        return compared
    reasons = [*_reasons(runs), *([ALONE] if outcomes[0].flows == 1 and predicted.queue_bytes < FRAME_BYTES else [])]
    return replace(compared, reason="; ".join(reasons) or "nothing that was counted says why")


def _mean(many: Sequence[Figures]) -> Figures:
    columns = [[f.goodput for f in many], [f.rtt_us for f in many], [f.queue_bytes for f in many]]
    return Figures(*(sum(column) / len(column) for column in columns))


def _reasons(runs: Sequence[dict[str, float]]) -> Iterator[str]:
    """Yields what the kernel's counters show and netsim leaves out."""

    def mean(name: str) -> float:
        values = [run[name] for run in runs if isfinite(run.get(name, float("nan")))]
        return sum(values) / len(values) if values else float("nan")

    if mean("dropped_packets") > 0 or mean("retransmits") > 0:
        yield f"{mean('dropped_packets'):g} packets were lost in the window, {mean('retransmits'):g} sent again"
    elif mean("start_dropped_packets") > 0:
        yield f"the start lost {mean('start_dropped_packets'):g} packets"
    if mean("jain") < FAIR:
        yield f"flows have not come to their shares in the window (Jain {mean('jain'):.3f})"


HEADINGS = ("scenario", "policy", "goodput", "Linux", "RTT us", "Linux", "off", "queue B", "Linux", "off", "")


def lines(compared: Sequence[Compared]) -> list[list[str]]:
    """A row of ``HEADINGS`` each: netsim's figure, then what Linux showed."""
    rows = []
    for c in compared:
        n, seen = c.netsim, c.linux
        verdict = f"FAIL {', '.join(c.failing)}: {c.reason}" if c.failing else "ok"
        packets = c.queue_off_bytes / FRAME_BYTES
        told = [f"{n.goodput:.4f}", f"{seen.goodput:.4f}"]
        told += [f"{n.rtt_us:,.0f}", f"{seen.rtt_us:,.0f}", f"{c.rtt_off:+.1%}"]
        told += [f"{n.queue_bytes:,.0f}", f"{seen.queue_bytes:,.0f}", f"{packets:+.2f} packets", verdict]
        rows.append([c.cell, c.policy, *told])
    return rows

"""FCT slowdown by flow size next to HPCC's evaluation: its figure 11a, and its authors' curves without incasts.

The fabric, the traffic and the algorithms' constants are the artefact's; what is known of the curves stands in
`bench/published/slowdowns.toml`. RL-CC runs in the same network.

    python -m bench.slowdowns [--where PLACE] [--jobs N] [--out FILE]
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from bench.shipped import POLICIES
from decision.artefact.documents import Format1, load_toml
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.ir import exact
from netsim import workloads
from netsim.baselines import by_name, changed
from netsim.mixes import Steering
from netsim.network import MS, US, Network
from netsim.places import Place
from netsim.result_store import Kept
from netsim.samples import Sampling
from netsim.scenarios import MAX_FLOWS, Flows, Scenario
from netsim.splitmix import uniform
from netsim.topology import Port, Topology
from netsim.trials import Trial, run
from rlcc.commands.run_location import add_options, place_of
from rlcc.evaluation.contenders import opened
from rlcc.origin import made_by
from rlcc.reports.pages import table

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "bench" / "published" / "slowdowns.toml"
PAGE = ROOT / "docs" / "results" / "slowdowns.md"
KEPT = ROOT / "build" / "slowdowns"
SEED = 1
ARRIVALS_PS, END_PS = 4 * MS, 8 * MS
"""Flows arrive until the first; the run goes on until the second, so that they can end."""
HOSTS, LEAF_HOSTS, POD_SWITCHES, LEAVES, CORES = 320, 16, 4, 20, 16
INCAST_SENDERS, INCAST_BYTES, INCAST_LOAD = 60, 500_000, 0.02
INCAST_STREAM = 1 << 30  # of the seed; one more for each incast's machines
NO_WINDOW = 4096  # messages of 16 packets
WINDOW = 10  # messages: 160 KB, the BDP of the longest path
NETWORK = Network(payload_bytes=1000, wire_overhead_bytes=48, buffer_bytes=32 * 2**20, lossless=True)
PERCENTILE = 95


class _PublishedTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SlowdownScene(_PublishedTable):
    """``theirs``: the published slowdown of an algorithm at each share of the flows."""

    name: str
    load: Annotated[int, Field(ge=1, le=100)]
    incast: bool
    theirs: dict[str, list[float]]


class PublishedSlowdowns(_PublishedTable):
    """``shares``: percent of the flows in the order of their sizes. ``margin``: largest relative distance of a PASS."""

    format: Format1
    shares: list[int]
    margin: float
    sources: dict[str, str]
    scenes: list[SlowdownScene]


@dataclass(frozen=True)
class SizeBin:
    """Flows around a share of all flows: their largest size in bytes, and the slowdown's percentile."""

    size_bytes: int
    slowdown: float


def fabric() -> Topology:
    """Returns the fabric of HPCC's evaluation: pods of four leaves and four aggregation switches, cores above."""
    ports = [Port(host // LEAF_HOSTS, 100, US) for host in range(HOSTS)]
    for switch in range(LEAVES):
        pod, place = divmod(switch, POD_SWITCHES)
        above = [LEAVES + POD_SWITCHES * pod + n for n in range(POD_SWITCHES)]
        cores = [2 * LEAVES + POD_SWITCHES * place + n for n in range(POD_SWITCHES)]
        for low, highs in ((switch, above), (LEAVES + switch, cores)):
            for high in highs:
                ports += [Port(low, 400, US, high), Port(high, 400, US, low)]
    return Topology(
        name="hpcc-evaluation",
        hosts=HOSTS,
        receivers=HOSTS,
        switches=2 * LEAVES + CORES,
        host_gbps=100,
        uplink_switch=tuple(host // LEAF_HOSTS for host in range(HOSTS)),
        uplink_delay_ps=US,
        ports=tuple(ports),
        data_bytes=NETWORK.data_wire_bytes,
        control_bytes=NETWORK.probe_wire_bytes,
    )


def traffic(load: int, incast: bool, seed: int, duration_ps: int = ARRIVALS_PS) -> Scenario:
    """Returns the Hadoop flows of a load and, with ``incast``, incasts of 2 % of the capacity at Poisson times."""
    drawn = workloads.poisson(
        "hadoop", load, hosts=HOSTS, host_gbps=100, seed=seed, duration_ps=duration_ps, most=MAX_FLOWS
    )
    start, host, receiver, size = [drawn.start_ps], [drawn.host], [drawn.receiver], [drawn.size_bytes]
    for number, at in enumerate(_incast_times(seed, duration_ps) if incast else ()):
        machines = np.argsort(uniform(HOSTS, seed, INCAST_STREAM + 1 + number), kind="stable")
        start.append(np.full(INCAST_SENDERS, at, np.int64))
        host.append(machines[1 : INCAST_SENDERS + 1].astype(np.int64))
        receiver.append(np.full(INCAST_SENDERS, machines[0], np.int64))
        size.append(np.full(INCAST_SENDERS, INCAST_BYTES, np.int64))
    hosts, sizes = np.concatenate(host), np.concatenate(size)
    order = np.argsort(hosts, kind="stable")
    flows = Flows(
        host=hosts[order],
        receiver=np.concatenate(receiver)[order],
        packets=-(-sizes[order] // NETWORK.payload_bytes),
        last_bytes=sizes[order] % NETWORK.payload_bytes,
        start_ps=np.concatenate(start)[order],
    )
    return Scenario(f"hadoop:{load}%" + ("+incasts" if incast else ""), HOSTS, HOSTS, flows, topology=fabric())


def _incast_times(seed: int, duration_ps: int) -> NDArray[np.int64]:
    gap_ps = INCAST_SENDERS * INCAST_BYTES * 8000 / (INCAST_LOAD * HOSTS * 100)
    most = round(4 * duration_ps / gap_ps) + 64
    gaps = np.rint(-gap_ps * exact.log1p(-uniform(most, seed, INCAST_STREAM)))
    times = np.cumsum(gaps.astype(np.int64))
    return times[times < duration_ps]


def algorithms(incast: bool, policies: Mapping[str, Steering]) -> dict[str, tuple[Steering, Network]]:
    """Returns who runs in a scene, with the network of each: the window is the NIC's."""
    open_ended, windowed = (replace(NETWORK, inflight_messages=messages) for messages in (NO_WINDOW, WINDOW))
    dcqcn, timely = by_name("dcqcn-hpcc"), by_name("timely")
    eta = 0.95 if incast else 0.99
    found: dict[str, tuple[Steering, Network]] = {
        f"HPCC .{eta * 100:.0f}": (changed("hpcc-artefact", {"eta": eta}), open_ended),
        "DCQCN+w": (dcqcn, windowed),
        "TIMELY+w": (timely, windowed),
        "DCTCP": (by_name("dctcp-hpcc-marking"), open_ended),
    }
    if incast:
        found |= {"DCQCN": (dcqcn, open_ended), "TIMELY": (timely, open_ended)}
    return found | {name: (policy, NETWORK) for name, policy in policies.items()}


def by_size(
    size_bytes: NDArray[np.int64], slowdown: NDArray[np.float32], shares: Sequence[int], percentile: float = PERCENTILE
) -> list[SizeBin]:
    """Returns the bin of four percent of the flows around each share. Equal sizes keep their order."""
    order = np.argsort(size_bytes, kind="stable")
    found = []
    for share in shares:
        begin, end = ((share + side) * order.size // 100 for side in (-2, 2))
        flows = order[begin:end]
        if not flows.size:
            raise InputError(f"{order.size} flows ended, too few for a bin at {share} %; let more arrive")
        within = float(np.percentile(np.maximum(slowdown[flows], 1.0), percentile))
        found.append(SizeBin(int(size_bytes[flows].max()), within))
    return found


def page(published: PublishedSlowdowns, policies: Mapping[str, Steering], where: Place) -> str:
    """Returns the page as Markdown."""
    text = f"""# FCT slowdown by flow size: HPCC's evaluation
{made_by("python -m bench.slowdowns")}

Facebook Hadoop on 320 hosts of 100 Gb/s under PFC, packets of 1000 bytes, 32 MiB of buffer a switch. A cell is the
{PERCENTILE}th percentile of the slowdown, FCT over the FCT of the empty network; lower is better.

- **Ours / theirs**: seed {SEED}. Flows arrive for {ARRIVALS_PS // MS} ms, the artefact's example is 0.1 s.
- **Columns**: bins of four percent of the flows, around a share of all flows in the order of their sizes.
- **+w**: at most {WINDOW * 16} packets of a flow are in flight, one BDP. The artefact's window shrinks with the rate.
- **PASS**: each bin of the row is within {published.margin:.0%} of theirs.

"""
    text += "".join(f"- Source, {what}: {where_from}.\n" for what, where_from in published.sources.items())
    for scene in published.scenes:
        who = algorithms(scene.incast, policies)
        scenario = traffic(scene.load, scene.incast, SEED)
        trials = [
            Trial(
                scenario,
                policy,
                seed=SEED,
                duration_ps=END_PS,
                window_ps=(0, END_PS),
                sampling=Sampling(points=1, flows=1),
                network=network,
                name=name,
            )
            for name, (policy, network) in who.items()
        ]
        bins: dict[str, list[SizeBin]] = {}
        unfinished: dict[str, float] = {}
        flows = len(scenario.flows)
        for name, outcome in zip(who, run(trials, where, Kept(KEPT)), strict=True):
            assert outcome.samples is not None
            ended = outcome.samples.completed_bytes.size
            unfinished[name] = 1 - ended / flows
            bins[name] = by_size(outcome.samples.completed_bytes, outcome.samples.completed_slowdown, published.shares)
        sizes = [f"{each.size_bytes:,} B" for each in next(iter(bins.values()))]
        rows = [_row(name, bins[name], scene.theirs.get(name), unfinished[name], published.margin) for name in who]
        text += f"\n## {scene.name}\n{flows:,} flows.\n\n"
        heads = [f"{share} %, to {size}" for share, size in zip(published.shares, sizes, strict=True)]
        text += table(["algorithm", *heads, "not ended", "verdict"], rows)
    return text + READING


READING = """
Why rows differ: their ACKs of 60 bytes share the links, so that a load of 30 % is 33 % there (their page of results);
the way back is free here. Queues are shorter for it, and short flows have lower slowdowns. The order of the algorithms
is theirs. The bin around 95 % of the scene with incasts holds the incasts' own flows of 500 KB.

Figure 11a's own curves were not at hand. A reader's run of the artefact gave DCQCN about 120, twice the figure.
"""


def _row(
    name: str, bins: Sequence[SizeBin], theirs: Sequence[float] | None, unfinished: float, margin: float
) -> list[str]:
    if theirs is None:
        return [name, *(f"{each.slowdown:.2f}" for each in bins), f"{unfinished:.2%}", "-"]
    errors = [each.slowdown / other - 1 for each, other in zip(bins, theirs, strict=True)]
    worst = max(errors, key=abs)
    verdict = "PASS" if abs(worst) <= margin else "FAIL"
    cells = [f"{each.slowdown:.2f} / {other:g}" for each, other in zip(bins, theirs, strict=True)]
    return [name, *cells, f"{unfinished:.2%}", f"{verdict}, {worst:+.0%}"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page and returns 0, or prints the reason why not and returns 2."""
    parser = argparse.ArgumentParser(prog="python -m bench.slowdowns", description="HPCC's FCT slowdown by flow size.")
    add_options(parser)
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        published = load_toml(PublishedSlowdowns, PUBLISHED)
        with opened(POLICIES[:1], decision_latency_ps=900_000, profile="ibex-small") as who:
            policies = {contender.label: contender.alone for contender in who}
            write_atomically(options.out, page(published, policies, place_of(options)))
    except InputError as error:
        print(f"slowdowns: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

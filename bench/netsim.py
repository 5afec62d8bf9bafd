"""Cost of a simulated data packet: speed with each kind of sender, growth with the number of flows, memory a flow.

    python -m bench.netsim [--out FILE]

Whole runs from an empty network: flows start, overload the port, settle. CPU time; of several runs the best one,
because what else the machine does only takes away.
"""

import argparse
import gc
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from decision.artefact.output import write_atomically
from decision.policy.policy import Policy
from netsim import Network, Simulation
from netsim.baselines import BaselineSpec, by_name
from netsim.network import MS
from netsim.policies import NativePolicy, native
from rlcc.origin import made_by
from rlcc.reports.pages import table

PAGE = Path(__file__).resolve().parents[1] / "docs" / "results" / "netsim-speed.md"
Steering = NativePolicy | BaselineSpec

REPEATS, GROWTH_REPEATS = 2, 4
WHOLE_MS, SETTLED_MS = 200, 50
LOSSLESS = Network(lossless=True, buffer_bytes=32 * 2**20)
GROWTH = tuple(1 << exponent for exponent in range(6, 17))
MEMORY = (1024, 65536)
MEMORY_LIMIT_BYTES = 1024
LARGE = ("many-to-one:65536", "many-to-one:434176@rl-cc-cluster")  # the second: [RLCC] figure 10
LARGE_MS = 5
FABRIC = "websearch:60%@acc-fabric"
"""288 hosts ([ACC] section 5.4), every packet over three ports."""
FABRIC_NETWORK = Network(link_gbps=25, buffer_bytes=8 * 2**20)
FABRIC_MS = (5, 25)
FABRIC_TARGET = 5.0


# --- who steers ---------------------------------------------------------------------------------------------------


def policy(architecture: dict[str, Any], window: int, rate_initial: float) -> Policy:
    congestion = {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5}
    return Policy.model_validate(
        {
            "format": 1,
            "name": "bench",
            "architecture": architecture,
            "observation": {
                "window": window,
                "base_rtt": "8192 ns",
                "line_rate": "100 Gb/s",
                "rtt_max": "4 ms",
                "features": [{"kind": "previous_action"}, congestion],
            },
            "action": {"kind": "tanh_map", "step": 0.2},
            "limits": {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": f"{rate_initial * 100:.6f} %"},
        }
    )


def mlp(rate_initial: float = 1.0, gain: float = 0.1) -> NativePolicy:
    """RL-CC's MLP (window of 2, 12 hidden units) with weights that hold the congestion feature at zero."""
    hidden = np.zeros((12, 4), dtype=np.float32)
    hidden[:6, 1], hidden[6:, 1] = 1, -1
    out = np.repeat([-gain / 6, gain / 6], 6)[None].astype(np.float32)
    architecture = {"kind": "mlp", "hidden": [12], "bias": False}
    return native(policy(architecture, 2, rate_initial), {"fc0.weight": hidden, "out.weight": out})


def lstm(units: int = 12, gain: float = 0.5) -> NativePolicy:
    """The small LSTM (12/12): its gates stand open, so that it too steers by the congestion feature."""
    fc = np.zeros((12, 2), dtype=np.float32)
    fc[:6, 1], fc[6:, 1] = 1, -1
    w_ih = np.zeros((4 * units, 12), dtype=np.float32)
    w_ih[2 * units : 3 * units] = np.eye(units, 12)
    bias = np.zeros(4 * units, dtype=np.float32)
    bias[:units], bias[units : 2 * units], bias[3 * units :] = 4, -4, 4
    out = np.repeat([-gain / 6, gain / 6], 6)[None].astype(np.float32)
    weights = {
        "fc0.weight": fc,
        "lstm.weight_ih": w_ih,
        "lstm.weight_hh": np.zeros((4 * units, units), dtype=np.float32),
        "lstm.bias_ih": bias,
        "lstm.bias_hh": np.zeros_like(bias),
        "out.weight": out,
    }
    return native(policy({"kind": "lstm", "hidden": [12], "lstm": units, "bias": False}, 1, 1.0), weights)


# --- speed --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SpeedRow:
    """Senders of one kind. ``target``: millions of data packets a CPU second that are asked for, by flows."""

    name: str
    steering: Callable[[], Steering]
    target: dict[int, float]
    network: Network | None = None
    flows: tuple[int, ...] = (64, 1024, 8192)


ROWS = (
    SpeedRow("MLP", mlp, {64: 4, 1024: 3, 8192: 2}),
    SpeedRow("LSTM", lstm, {}),
    SpeedRow("HPCC, an ACK a packet", lambda: by_name("hpcc-max-stage-5"), {64: 3}),
    SpeedRow("DCQCN, lossless", lambda: by_name("dcqcn-hpcc"), {64: 3, 1024: 2}, LOSSLESS),
    SpeedRow("DCQCN, lossy", lambda: by_name("dcqcn-hpcc"), {}, flows=(64, 1024)),
    SpeedRow("Swift, an ACK a packet", lambda: by_name("swift-htsim"), {}),
    SpeedRow("DCTCP, an ACK a packet", lambda: by_name("dctcp-hpcc-marking"), {}),
    SpeedRow("open loop: max-min", lambda: by_name("max-min"), {}),
    SpeedRow("open loop, 4 KiB", lambda: by_name("max-min"), {}, Network(payload_bytes=4096), flows=(8192,)),
)

NS3 = (
    ("HPCC, an ACK a packet", 64, 0.191),
    ("HPCC, an ACK a packet", 1024, 0.134),
    ("DCQCN, lossless", 64, 0.127),
    ("DCQCN, lossless", 1024, 0.040),
)
"""Row, flows, and the million data packets a CPU second that the ns-3 port of HPCC's artefact made of the same network
on another machine of 2 cores."""


def measure(row: SpeedRow, flows: int) -> dict[str, float]:
    begin = time.process_time()
    run = Simulation(f"many-to-one:{flows}", row.steering(), seed=1, network=row.network)
    run.run(SETTLED_MS * MS)
    started, settled = run.window()["counts"], time.process_time()
    run.reset_window()
    run.run(WHOLE_MS * MS)
    end = time.process_time()
    assert run.conservation()["holds"]
    counts = run.window()["counts"]
    heard = counts["decisions"] if isinstance(run.policy, NativePolicy) else counts["acks"]
    return {
        "whole": (started["data_arrived"] + counts["data_arrived"]) / (end - begin) / 1e6,
        "settled": counts["data_arrived"] / (end - settled) / 1e6,
        "simulated": (started["data_sent"] + counts["data_sent"]) / (end - begin) / 1e6,
        "decides": heard / (end - settled) / 1e6,
        "goodput": run.metrics()["goodput"],
    }


def met(asked: float, found: dict[str, float]) -> str:
    short = [name for name in ("whole", "settled", "simulated") if found[name] < asked]
    return "met" if not short else "not met by " + ", ".join(short)


def speed() -> str:
    columns = ("whole", "settled", "simulated", "decides")
    found: dict[tuple[str, int], float] = {}
    rows = []
    for row in ROWS:
        for flows in row.flows:
            tell(f"{row.name}, {flows}")
            runs = [measure(row, flows) for _ in range(REPEATS)]
            best = {name: max(run[name] for run in runs) for name in runs[0]}
            spread = best["simulated"] / min(run["simulated"] for run in runs) - 1
            found[row.name, flows] = best["whole"]
            asked = row.target.get(flows)
            figures = [f"{best[column]:.2f}" for column in columns]
            judged = [f"{best['goodput']:.3f}", "" if asked is None else f"{asked:g}: {met(asked, best)}"]
            rows.append([row.name, str(flows), *figures, f"{spread:.0%}", *judged])
    beside = [
        [name, str(flows), f"{theirs:.3f}", f"{found[name, flows]:.2f}", f"{found[name, flows] / theirs:.0f}"]
        for name, flows, theirs in NS3
    ]
    return f"""## Speed
Millions a CPU second, {WHOLE_MS} ms from an empty network, 100 Gb/s, 1 KiB packets, N flows to one receiver:

- **whole**: data packets that reached their receiver, over the whole run.
- **settled**: the same over the last {WHOLE_MS - SETTLED_MS} ms.
- **simulated**: all data packets of the whole run, dropped ones too, which is the simulator's work.
- **decides**: decisions of a policy, or ACKs that a baseline hears, over the last {WHOLE_MS - SETTLED_MS} ms.
- **spread**: by how much the worse of {REPEATS} runs was slower.
- **aim**: for whole, settled and simulated.

{table(["senders", "flows", *columns, "spread", "goodput", "aim"], rows)}
[htsim in pairs](htsim-speed.md). The ns-3 port of HPCC's artefact made the figures below on another machine of 2 cores,
so that the ratios are rough:

{table(["senders", "flows", "ns-3 port", "netsim, whole", "ratio"], beside)}"""


# --- growth -------------------------------------------------------------------------------------------------------


def cost_ns(steering: Steering, flows: int) -> float:
    """CPU time a data packet when no start-up is left: flows begin at their fair share."""
    run = Simulation(f"many-to-one:{flows}", steering, seed=1)
    run.run(20 * MS)
    run.reset_window()
    begin = time.process_time()
    run.run(80 * MS)
    spent = time.process_time() - begin
    return spent * 1e9 / int(run.window()["counts"]["data_sent"])


def growth() -> str:
    exponent = np.log2(GROWTH)
    rows, lines = [], []
    for name, steering in (("MLP", lambda n: mlp(1 / n)), ("open loop: max-min", lambda n: by_name("max-min"))):
        tell(f"growth, {name}")
        cost = np.array([min(cost_ns(steering(n), n) for _ in range(GROWTH_REPEATS)) for n in GROWTH])
        slope, first = np.polyfit(exponent, cost, 1)
        off = np.abs(first + slope * exponent - cost).max()
        grown, allowed = cost[-1] / cost[0], exponent[-1] / exponent[0]
        rows.append([name, *[f"{ns:.0f}" for ns in cost]])
        lines.append(
            f"- {name}: {first:.0f} + {slope:.1f} log2(flows) within {off:.0f} ns; {grown:.2f} times over the range, "
            f"the logarithm {allowed:.2f} times: {'met' if grown <= allowed else 'not met'}"
        )
    return f"""## Growth
CPU time of a data packet, ns, flows that begin at their fair share, the best of {GROWTH_REPEATS} runs:

{table(["flows", *map(str, GROWTH)], rows)}
{chr(10).join(lines)}
"""


# --- memory -------------------------------------------------------------------------------------------------------


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def large(scenario: str, kind: str, until_ms: int) -> dict[str, float]:
    """Build and run one network in a process of its own."""
    before, begin = resident_bytes(), time.process_time()
    run = Simulation(scenario, mlp() if kind == "MLP" else by_name(kind), seed=1)
    built = time.process_time()
    run.run(until_ms * MS)
    spent = time.process_time() - built
    gc.collect()
    return {
        "bytes": resident_bytes() - before,
        "core": run._core.bytes_per_flow,
        "build_s": built - begin,
        "run_s": spent,
        "packets": run.window()["counts"]["data_sent"],
        "flows": len(run.scenario.flows),
    }


def alone(*arguments: str | int) -> dict[str, float]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(large, arguments)


def memory() -> str:
    each, large_ones = [], []
    for kind in ("MLP", "dcqcn-hpcc", "hpcc", "max-min"):
        tell(f"memory, {kind}")
        few, many = (alone(f"many-to-one:{flows}", kind, 2) for flows in MEMORY)
        of_process = (many["bytes"] - few["bytes"]) / (many["flows"] - few["flows"])
        judged = "met" if of_process < MEMORY_LIMIT_BYTES else "not met"
        each.append([kind, f"{of_process:.0f}", f"{many['core']:.0f}", judged])
    for scenario in LARGE:
        for kind in ("MLP", "hpcc"):
            tell(f"{scenario}, {kind}")
            m = alone(scenario, kind, LARGE_MS)
            cost_ms, millions = m["run_s"] / LARGE_MS * 1e3, m["packets"] / m["run_s"] / 1e6
            mebibytes = f"{m['bytes'] / 2**20:.0f}"
            large_ones.append([scenario, kind, mebibytes, f"{m['build_s']:.2f}", f"{cost_ms:.0f}", f"{millions:.1f}"])
    return f"""## Memory
Bytes a flow, {MEMORY[1]} flows against {MEMORY[0]}; the aim is under {MEMORY_LIMIT_BYTES} of the process:

{table(["senders", "of the process", "of the simulator's own", "aim"], each)}
Large networks from an empty network, {LARGE_MS} ms; the second is the papers' largest test (RL-CC, figure 10):

{table(["network", "senders", "MiB", "made in, s", "CPU ms a simulated ms", "M packets a CPU s"], large_ones)}"""


# --- a fabric -----------------------------------------------------------------------------------------------------


def fabric() -> str:
    begin_ms, end_ms = FABRIC_MS
    tell(FABRIC)
    found = []
    for _ in range(REPEATS):
        run = Simulation(FABRIC, by_name("dcqcn"), seed=1, duration_ps=end_ms * MS, network=FABRIC_NETWORK)
        run.run(begin_ms * MS)
        run.reset_window()
        begin = time.process_time()
        run.run(end_ms * MS)
        found.append((time.process_time() - begin, run.window()["counts"]["data_arrived"]))
    spent, packets = min(found)
    millions, cost_ms = packets / spent / 1e6, spent / (end_ms - begin_ms) * 1e3
    return f"""## A fabric
`{FABRIC}`, every packet over three ports, DCQCN, {begin_ms} to {end_ms} ms, the best of {REPEATS} runs:
{cost_ms:.0f} ms of CPU a simulated ms, {millions:.2f} million packets a CPU second (aim {FABRIC_TARGET:g}:
{"met" if millions >= FABRIC_TARGET else "not met"}).
"""


def tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.netsim", description="What a simulated packet costs.")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    out = parser.parse_args().out
    parts = [part() for part in (speed, growth, memory, fabric)]
    head = f"# What a simulated packet costs\n{made_by('python -m bench.netsim')}\n"
    write_atomically(out, "\n".join([head, *parts]).encode())


if __name__ == "__main__":
    main()

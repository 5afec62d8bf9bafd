"""PCC-RL's table 7 again, with firmware: the float agent beside its int8 one, 2 to 8192 flows to one.

python -m papers.table7 [--quick] [--seeds N] [--where PLACE] [--jobs N] [--docs FOLDER] [--work FOLDER]

The int8 agent is emitted C (`rlcc emit --form lstm-int8`), compiled for this machine and driven in the network: once at
the float agent's decision time, so that only the arithmetic differs, and once at the time that an Ibex core takes.
A run that was finished is kept in the work folder and not run again.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codegen.emit import Emission
from codegen.networks.body import emit_network
from codegen.networks.quantise import Bits
from codegen.networks.quantised import quantised
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.output import write_atomically
from decision.policy.network_policy import NetworkPolicy
from distill import rollout
from distill.options import RolloutOptions
from emulator.firmware_folder import read_firmware
from emulator.shared_library import shared_library
from netsim.network import MS
from netsim.policies import Installed, compiled, native
from netsim.simulation import DECISION_LATENCY_PS
from papers import published
from papers.contenders import ENGINE, PAGES, ROOT, TEACHERS, Contender
from papers.found import Found, beside
from papers.runs import Run, run_all
from papers.sections import DROPS, GOODPUT, QUEUE, UTILISATION, Column, cell
from papers.traffic import QUICK, Traffic, named
from rlcc.commands.run_location import add_options, place_of
from rlcc.evaluation.contenders import emulated_latency_ps
from rlcc.evaluation.grid import Times
from rlcc.origin import made_by
from rlcc.reports.pages import table, wrapped
from teachers.load import load

TEACHER = TEACHERS / "pcc-rl-lstm"
TIMES = Times(200 * MS, (50 * MS, 170 * MS))
"""RL-CC, published code."""
CALIBRATION = RolloutOptions(
    scenarios=[*(f"many-to-one:{n}" for n in (2, 8, 64, 512, 1024, 2048, 8192)), "all-to-all:4"], seeds=[1]
)
FIRST_SEED = 11
"""Not the calibration's."""
FLOAT, INT8, NARROW = "float", "int8", "int8, between layers too"
FAIRNESS = Column("fairness", "fairness_min_max", 1, 2, 1)


@dataclass(frozen=True)
class Quantised:
    """An int8 agent: its firmware folder, what is in it, its time on the engine."""

    label: str
    folder: Path
    policy: NetworkPolicy
    latency_ps: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m papers.table7", description="PCC-RL's table 7 beside ours.")
    parser.add_argument("--quick", action="store_true", help="40 ms a run instead of 100")
    parser.add_argument("--seeds", type=int, choices=range(1, 100), default=1, metavar="N", help="runs of each; 1")
    add_options(parser)
    parser.add_argument("--docs", type=Path, default=PAGES, help="where table-7.md goes")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "table7", help="firmware and kept runs")
    options = parser.parse_args(arguments)
    times = QUICK if options.quick else TIMES
    seeds = range(FIRST_SEED, FIRST_SEED + options.seeds)
    begin = time.monotonic()
    try:
        agents = made(options.work)
        with contenders(agents) as who:
            traffic = [named(f"many-to-one:{n}", times) for n in published.QUANTISED]
            runs = [Run(c, t, seed) for t in traffic for c in who for seed in seeds]
            found = Found(run_all(runs, options.work / "runs", place_of(options)), seeds)
        write_atomically(options.docs / "table-7.md", page(found, traffic, agents, times))
    except InputError as error:
        print(f"table 7: {error}", file=sys.stderr)
        return 2
    print(f"table 7: {options.docs / 'table-7.md'}, {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return 0


def made(work: Path) -> list[Quantised]:
    """The two int8 agents as firmware: int16 between the layers, which is what is emitted by default, and int8."""
    teacher = load(TEACHER)
    collected = rollout.collect(rollout.teacher_policy(teacher), CALIBRATION)
    rollout.write(collected, teacher, work / "rollouts", CALIBRATION)
    parent = opened(work / "rollouts", rollout.KIND)
    found = []
    for label, bits in ((INT8, Bits(16, 8)), (NARROW, Bits(8, 8))):
        runs = [run.trajectories for run in collected]
        policy = quantised(teacher.policy, teacher.weights, teacher.hash, runs, "lstm-int8", bits)
        folder = work / f"firmware-{bits.activations}-{bits.hidden}"
        emit_network(policy, parent.hash, folder, Emission())
        found.append(Quantised(label, folder, policy, emulated_latency_ps(folder, ENGINE)))
    return found


@contextmanager
def contenders(agents: Sequence[Quantised]) -> Iterator[list[Contender]]:
    """The float agent, both int8 agents at its decision time, and the first at its own."""
    teacher = load(TEACHER)
    wide, narrow = agents
    with shared_library(read_firmware(wide.folder)) as first, shared_library(read_firmware(narrow.folder)) as second:
        by_c = compiled(first, Installed(wide.policy.params()))
        yield [
            Contender(FLOAT, native(teacher.policy, teacher.weights), DECISION_LATENCY_PS),
            Contender(INT8, by_c, DECISION_LATENCY_PS),
            Contender(NARROW, compiled(second, Installed(narrow.policy.params())), DECISION_LATENCY_PS),
            Contender(own_time(wide), by_c, wide.latency_ps),
        ]


def own_time(agent: Quantised) -> str:
    return f"{agent.label}, {agent.latency_ps / 1e6:.0f} us"


def page(found: Found, traffic: Sequence[Traffic], agents: Sequence[Quantised], times: Times) -> str:
    """The page, whole."""
    wide = agents[0]
    window = " to ".join(str(t // MS) for t in times.window_ps)
    text = f"""# PCC-RL's table 7: float and int8
{made_by("python -m papers.table7")} The float agent is `fixtures/teachers/pcc-rl-lstm`; the int8
agent is the C that `rlcc emit --form lstm-int8` makes of it ([how](../../docs/how-to/networks.md)), compiled and asked
at every decision. Decisions take effect after 0.9 us unless said otherwise. Runs of {times.duration_ps // MS} ms
measured from {window} ms, {_seeds(found)}; the calibration's networks had another seed and were shorter.

## Ours / the paper's
{_beside_the_paper(found, traffic)}
{_verdict(found, traffic)}

## What each rounding costs
The multiplier against the float agent's, on recorded decisions of flows that were not calibrated on, and the queue in
the network. "int8, between layers too" has int8 for every value but the inputs, as the paper says of its agent. The
inputs stay int16: the congestion feature spans -0.8 to 600 here, and int8 would make one value of all that lies around
its target, where the agent spends its time.

{_errors(agents)}
{_queues(found, traffic, wide)}
{_narrow_verdict(found, traffic)} The last columns are the first int8 agent with the {wide.latency_ps / 1e6:.0f} us that
a decision takes on `{ENGINE}` (330 MHz, an assumption), and as many engines as flows: with {traffic[0].flows} flows,
which could decide every 20 us, that costs {_goodput_lost(found, traffic[0], wide):.1%} of the link. With
{traffic[-1].flows} flows a flow decides once in milliseconds, and no agent has settled in this time.

## Differences
The paper's agent observes another feature (target 2, no tolerance, no scale), whose range int8 holds better. Its float
agent leaves 3 to 10 % of the link unused, ours nothing, so utilisation cannot rise here. It says neither how
activations were scaled nor how long a decision took.
"""
    return wrapped(text)


def _beside_the_paper(found: Found, traffic: Sequence[Traffic]) -> str:
    columns = (UTILISATION, FAIRNESS, QUEUE)
    lines = []
    for i, t in enumerate(traffic):
        line = [f"{t.flows}"]
        for k, column in enumerate(columns):
            for label in (FLOAT, INT8):
                line.append(beside(cell(found, label, t, column), published.TABLE_7[label][k][i]))
        lines.append(line)
    heads = [f"{name} {label}" for name in ("use %", "fairness", "queue us") for label in (FLOAT, INT8)]
    return table(["flows", *heads], lines)


def _verdict(found: Found, traffic: Sequence[Traffic]) -> str:
    off = [abs(_longer(found, INT8, t)) for t in traffic]
    longer = sum(_longer(found, INT8, t) > 0 for t in traffic)
    printed = [b / a - 1 for a, b in zip(published.TABLE_7[FLOAT][2], published.TABLE_7[INT8][2], strict=True)]
    return f"""The int8 agent's queue differs from the float agent's by {max(off):.1%} at most
({traffic[off.index(max(off))].flows} flows) and is the longer one at {longer} of {len(traffic)} sizes; the paper's is
longer by {min(printed):.0%} to {max(printed):.0%} everywhere. Packets are lost at {_lossy(found, FLOAT, traffic)} by
the float agent, at {_lossy(found, INT8, traffic)} by the int8 one."""


def _narrow_verdict(found: Found, traffic: Sequence[Traffic]) -> str:
    change = [_longer(found, NARROW, t) for t in traffic]
    return f"""With int8 between the layers too the queue is longer at {sum(c > 0 for c in change)} of {len(traffic)}
sizes, by {max(change):.1%} at most."""


def _goodput_lost(found: Found, t: Traffic, wide: Quantised) -> float:
    return found.mean(FLOAT, t, "goodput") - found.mean(own_time(wide), t, "goodput")


def _longer(found: Found, label: str, t: Traffic) -> float:
    """By what part the queue is longer than the float agent's."""
    return found.mean(label, t, "queue_mean_us") / found.mean(FLOAT, t, "queue_mean_us") - 1


def _lossy(found: Found, label: str, traffic: Sequence[Traffic]) -> str:
    count = sum(found.most(label, t, "dropped_packets") > 0 for t in traffic)
    return f"{count} size{'' if count == 1 else 's'}" if count else "no size"


def _errors(agents: Sequence[Quantised]) -> str:
    lines = []
    for agent in agents:
        off = agent.policy.report["held_out"]
        figures = [f"{off[k]:.5f}" for k in ("rmse", "p99", "max")]
        lines.append([agent.label, *figures, f"{agent.latency_ps / 1e6:.1f}"])
    return table(["multiplier off by", "rms", "p99", "max", f"us on {ENGINE}"], lines)


def _queues(found: Found, traffic: Sequence[Traffic], wide: Quantised) -> str:
    labels = (FLOAT, INT8, NARROW, own_time(wide))
    lines = []
    for t in traffic:
        line = [f"{t.flows}", *(cell(found, label, t, QUEUE) for label in labels)]
        line += [cell(found, label, t, GOODPUT) for label in (FLOAT, NARROW, labels[-1])]
        lines.append([*line, cell(found, labels[-1], t, DROPS)])
    heads = [f"queue us {label}" for label in labels]
    heads += [f"goodput {label}" for label in (FLOAT, NARROW, labels[-1])]
    return table(["flows", *heads, f"drops Gb/s {labels[-1]}"], lines)


def _seeds(found: Found) -> str:
    return "one seed" if len(found.seeds) == 1 else f"means over {len(found.seeds)} seeds with their 99 % confidence"


if __name__ == "__main__":
    sys.exit(main())

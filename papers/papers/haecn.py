"""HAECN's comparison on leaf-spine fabrics, with the decisions of each switch's ports waiting for one CPU.

    rlcc run recipes/acc.toml && rlcc run recipes/haecn.toml && python -m papers.haecn [--seeds N] [--where PLACE]

ACC and HAECN stand in three forms: their networks in float32 on a switch CPU, the same in int8 and their students'
trees on the emulated core. What a decision takes of the CPU is what tells the forms apart; a network's knobs are its
teacher's in both forms, so that nothing but the waiting differs between them.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.ir.interface import TRIGGERED
from decision.policy.records import Columns
from decision.policy.weights import TRIGGER, shapes
from emulator.firmware_folder import built
from emulator.run import run_vectors
from netsim import topology
from netsim.baselines import by_name
from netsim.cohorts import Cohort
from netsim.engines import Engines
from netsim.network import MS, US, Network
from netsim.places import Place as Where
from netsim.policies import PolicySpec, interface_of, native
from netsim.result_store import Kept
from netsim.scenarios import Flows, Scenario
from netsim.trials import Trial
from netsim.trials import run as run_trials
from papers import contenders, int8_cost
from papers.int8_cost import Int8
from papers.runs import Metrics, percent_off, say, spread
from rlcc.commands.run_location import add_options, place_of
from rlcc.origin import made_by
from rlcc.policies import by_path
from rlcc.recipe import deployment_of, load_recipe
from teachers.load import load
from teachers.teacher import Teacher

PAGE = contenders.PAGES / "haecn.md"
NETWORK = Network(link_gbps=25, buffer_bytes=8 * 2**20)
PERIOD_PS = 150 * US
"""15 x RTT ([HAECN] table 1), of 10 us."""
HOSTS = (12, 36, 48)
FLOW_BYTES = 1_000_000
FLOAT_CYCLES, FLOAT_MHZ = 4, 1000
"""A float32 multiply-add and the clock of a switch CPU: assumed, nothing is published. A load each of weight and value,
the multiply-add, the loop."""
FORMS = ("float32", "int8", "trees")
Costs = tuple[int, int | None]
"""What a decision takes, and one in which the trigger does not fire, ps; None: there is no trigger."""
SENDERS = "dcqcn-hpcc-marking"
"""Who sends under the policies of queues, which were trained with it."""
PRESETS = {"DCQCN": SENDERS, "TIMELY": "timely", "HPCC": "hpcc-max-stage-5"}
BASELINES = tuple(PRESETS)
PAPER = {
    "throughput": {"DCQCN": 47, "TIMELY": 34, "HPCC": 32, "ACC": 24},
    "36": {"DCQCN": -30, "TIMELY": -24, "HPCC": -22, "ACC": -16},
    "48": {"DCQCN": -33, "TIMELY": -28, "HPCC": -25, "ACC": -21},
}
"""HAECN against these in % ([HAECN] section 5): throughput at the most, mean FCT of 5 MB flows by hosts a leaf."""


@dataclass(frozen=True)
class Ports:
    """Who decides at the queues: ``busy_ps`` of the CPU a decision, ``quiet_ps`` where a trigger does not fire."""

    policy: PolicySpec
    busy_ps: int
    quiet_ps: int | None

    def cohort(self) -> Cohort:
        return Cohort(self.policy, PERIOD_PS, self.busy_ps, Engines(1, "coalesce"), quiet_ps=self.quiet_ps)


@dataclass(frozen=True)
class Place:
    """A scenario, how long it runs and what of it is measured."""

    name: str
    scenario: Scenario
    duration_ps: int
    window_ps: tuple[int, int]


def fabric(hosts: int) -> topology.Topology:
    """12 leaves, 6 spines."""
    return topology.leaf_spine(12, hosts, 6, host_gbps=25, network=NETWORK)


def bursty(hosts: int, size: int = FLOW_BYTES) -> Place:
    """Every fourth host sends one flow of ``size`` bytes to the first server of leaf 1, all at once."""
    made = fabric(hosts)
    sender = np.arange(3, made.hosts, 4)
    flows = Flows(host=sender, receiver=0, **packets_of(size))
    alone_ps = sender.size * size * 8000 // 25
    duration = 2 * alone_ps + 10 * MS
    return Place(
        f"bursty, {hosts}",
        Scenario(f"bursty:{hosts}", made.hosts, 12 * hosts, flows, topology=made),
        duration,
        (0, duration),
    )


def packets_of(size: int) -> dict[str, int]:
    """Of a flow of so many bytes."""
    return {"packets": -(-size // NETWORK.payload_bytes), "last_bytes": size % NETWORK.payload_bytes}


def stabilising(hosts: int, half_ps: int = 10 * MS) -> Place:
    """One endless flow of twelve hosts, and later one of six, to the first server of leaf 1; measured is the later."""
    made = fabric(hosts)
    sender = np.arange(5, made.hosts, 6)
    start = np.where(sender % 12 == 5, 0, half_ps)
    flows = Flows(host=sender, receiver=0, start_ps=start)
    scenario = Scenario(f"stabilising:{hosts}", made.hosts, 12 * hosts, flows, topology=made)
    return Place(f"gradual stabilisation, {hosts}", scenario, 2 * half_ps, (half_ps, 2 * half_ps))


def multiply_adds(teacher: Teacher, of_trigger: bool) -> int:
    """Of its network, or of its trigger's."""
    named = shapes(teacher.policy).items()
    return sum(rows[0] * rows[1] for name, rows in named if len(rows) == 2 and name.startswith(TRIGGER) == of_trigger)


def network_costs(teacher: Teacher, int8: Sequence[Int8]) -> dict[str, Costs]:
    """By form: float32 reckoned by multiply-adds, int8 as measured."""
    own, trigger = multiply_adds(teacher, False), multiply_adds(teacher, True)
    ps = FLOAT_CYCLES * 1_000_000 / FLOAT_MHZ
    return {
        "float32": (round((own + trigger) * ps), round(trigger * ps) if trigger else None),
        "int8": int8_costs(int8),
    }


def networks_in_int8(name: str, run: Path) -> list[Int8]:
    """Of the teacher of this recipe, calibrated on the rollouts of its run."""
    recipe = contenders.ROOT / "recipes" / f"{name}.toml"
    teacher, deployment = load(contenders.TEACHERS / name), deployment_of(load_recipe(recipe), recipe)
    return int8_cost.measured(teacher, run / "rollouts", deployment, contenders.ENGINE)


def int8_costs(networks: Sequence[Int8]) -> Costs:
    """Of the networks of a teacher as measured, the trigger's last: where it fires both are run."""
    return sum(each.mean_ps for each in networks), networks[1].mean_ps if len(networks) > 1 else None


def tree_costs(firmware: Path) -> Costs:
    """Of a firmware folder, the mean of its vectors on the emulated core."""
    report = run_vectors(built(firmware, profile=contenders.ENGINE))
    if report.cycles is None:
        raise InputError(f"{firmware} does not run on {contenders.ENGINE}: {report.fault}; run its recipe again")
    means = {value: report.told.get(f"{TRIGGERED.name}={value}", report.cycles).mean for value in (0, 1)}
    taken = [round(means[value] * 1_000_000 / report.clock_mhz) for value in (0, 1)]
    return taken[1], taken[0] if report.told else None


@contextmanager
def deciding(acc_run: Path, run: Path) -> Iterator[tuple[dict[str, Ports], dict[str, list[Int8]]]]:
    """ACC's and HAECN's ports in each form, and their networks in int8, as measured, by system."""
    ports: dict[str, Ports] = {}
    int8: dict[str, list[Int8]] = {}
    with by_path(acc_run / "firmware") as acc_tree, by_path(run / "firmware") as haecn_tree:
        for name, tree, folder in (("ACC", acc_tree, acc_run), ("HAECN", haecn_tree, run)):
            teacher = load(contenders.TEACHERS / name.lower())
            policy = native(teacher.policy, teacher.weights)
            int8[name] = networks_in_int8(name.lower(), folder)
            for form, costs in network_costs(teacher, int8[name]).items():
                ports[f"{name}, {form}"] = Ports(policy, *costs)
            ports[f"{name}, trees"] = Ports(tree.policy, *tree_costs(folder / "firmware"))  # type: ignore[arg-type]
        yield ports, int8


def played(acc_run: Path, run: Path, seeds: int, keep: Path, where: Where) -> "Outcomes":
    """Everybody everywhere."""
    with deciding(acc_run, run) as (ports, int8):
        places = [*(bursty(hosts) for hosts in HOSTS), *(stabilising(hosts) for hosts in HOSTS)]
        return replace(outcomes_of(places, ports, seeds, Kept(keep), where), int8=int8)


def outcomes_of(places: Sequence["Place"], ports: dict[str, Ports], seeds: int, kept: Kept, where: Where) -> "Outcomes":
    """The baselines and these ports in all places."""
    keys, trials = [], []
    for place in places:
        for who in (*BASELINES, *ports):
            for seed in range(1, seeds + 1):
                keys.append((place.name, who))
                trials.append(trial(place, who, ports.get(who), seed))
    outcomes = run_trials(trials, where, kept, say)
    metrics: dict[tuple[str, str], list[Metrics]] = {}
    for key, outcome in zip(keys, outcomes, strict=True):
        metrics.setdefault(key, []).append(outcome.metrics | _fired(key[1], ports, outcome.records))
    return Outcomes(seeds, [place.name for place in places], ports, metrics)


def trial(place: Place, who: str, ports: Ports | None, seed: int) -> Trial:
    triggered = ports is not None and ports.quiet_ps is not None
    return Trial(
        place.scenario,
        by_name(SENDERS if ports is not None else PRESETS[who]),
        seed=seed,
        duration_ps=place.duration_ps,
        window_ps=place.window_ps,
        record_ps=place.duration_ps if triggered else 0,
        network=NETWORK,
        cohorts=() if ports is None else (ports.cohort(),),
        name=who,
    )


def _fired(who: str, ports: dict[str, Ports], records: Sequence[Columns]) -> Metrics:
    if who not in ports or TRIGGERED not in interface_of(ports[who].policy).knobs:
        return {}
    return {"triggered": float(np.mean(np.asarray(records[1][TRIGGERED.name], dtype=np.float64)))}


@dataclass(frozen=True)
class Outcomes:
    """Metrics of each seed by place and by who decided."""

    seeds: int
    places: list[str]
    ports: dict[str, Ports]
    metrics: dict[tuple[str, str], list[Metrics]]
    int8: Mapping[str, Sequence[Int8]] = field(default_factory=dict)
    """By system: the choice, and the trigger."""

    def mean(self, place: str, who: str, metric: str) -> float:
        return float(np.mean([m.get(metric, np.nan) for m in self.metrics[place, who]]))

    def against(self, place: str, who: str, other: str, metric: str) -> str:
        """By how many percent, seed by seed: mean, and from the least to the greatest."""
        return spread(self.changes(place, who, other, metric))

    def changes(self, place: str, who: str, other: str, metric: str) -> list[float]:
        """The same of each seed."""
        return percent_off(self.metrics[place, who], self.metrics[place, other], metric)

    def late(self, who: str) -> float:
        """Greatest mean over the places of event to setting, us."""
        return max(self.mean(place, who, "decision_latency_mean_us") for place in self.places)


def page(o: Outcomes) -> str:
    who = list(dict.fromkeys(name for _, name in o.metrics))
    burst = [place for place in o.places if place.startswith("bursty")]
    gradual = [place for place in o.places if place not in burst]
    lines = [
        "# HAECN beside its paper",
        made_by("rlcc run recipes/acc.toml && rlcc run recipes/haecn.toml && python -m papers.haecn"),
        "",
        "[HAECN] section 5: 12 leaves of 12 to 48 hosts at 25 Gb/s, 6 spines at 100 Gb/s, DCQCN at the hosts, "
        "every port asked each 150 us. *Bursty*: every fourth host sends "
        f"{FLOW_BYTES // 1_000_000} MB (the paper's figures are of 5 MB) to one server of leaf 1, all at once. "
        "*Gradual stabilisation*: an endless flow of every twelfth host to that server, after "
        f"10 ms of every sixth; 20 ms in place of some 300, the last 10 measured. {o.seeds} seeds. ACC and HAECN "
        "are the teachers of `rlcc train` and the C of their students.",
        "",
        "## What waits",
        "The decisions of all ports of a switch wait for one CPU; a port that is asked again while it waits is "
        "decided once, on the newest event. *float32*: the teacher's network, "
        f"{FLOAT_CYCLES} cycles a multiply-add at {FLOAT_MHZ} MHz, an assumption; *int8*: the networks as C "
        "([networks](../../docs/how-to/networks.md#networks-that-choose-rows)), the mean of its vectors on "
        "`ibex-small` at "
        "330 MHz, with the teacher's knobs; *trees*: the student, the same. HAECN's second time is that where its "
        "trigger does not fire: its two networks are emitted and measured one by one, so that one that fires counts "
        "the decision around a network twice. "
        f"In the bursty networks of {HOSTS[-1]} hosts:",
        "",
        "| | a decision, us | fires | CPU busy, mean switch | busiest | event to setting, us | superseded |",
        "|---|---|---|---|---|---|---|",
    ]
    worst = burst[-1]
    for name, port in o.ports.items():
        taken = f"{port.busy_ps / US:.2f}" + ("" if port.quiet_ps is None else f" / {port.quiet_ps / US:.2f}")
        fires = o.mean(worst, name, "triggered")
        busy, most = (o.mean(worst, name, f"engine_utilisation{end}") for end in ("", "_max"))
        dropped = o.mean(worst, name, "engine_coalesced") / o.mean(worst, name, "engine_events")
        late = o.mean(worst, name, "decision_latency_mean_us")
        shown = "-" if np.isnan(fires) else f"{fires:.1%}"
        lines.append(f"| {name} | {taken} | {shown} | {busy:.1%} | {most:.1%} | {late:.1f} | {dropped:.1%} |")
    lines += ["", *_int8_table(o)]
    for title, metric, places, decimals in (
        ("Bursty: mean FCT, us", "fct_mean_us", burst, 0),
        ("Bursty: p99 of the FCT, us", "fct_p99_us", burst, 0),
        ("Bursty: mean queue, us", "queue_mean_us", burst, 1),
        ("Gradual stabilisation: goodput of the one link", "goodput", gradual, 4),
        ("Gradual stabilisation: mean queue, us", "queue_mean_us", gradual, 1),
    ):
        lines += ["", f"## {title}", "", "| hosts a leaf | " + " | ".join(map(str, HOSTS)) + " |"]
        lines.append("|---|" + "---|" * len(HOSTS))
        for name in who:
            lines.append(f"| {name} | " + " | ".join(f"{o.mean(p, name, metric):.{decimals}f}" for p in places) + " |")
    lines += [
        "",
        "## Against the others",
        "HAECN in % of each, mean of the seeds (least to greatest), beside the same form of ACC; the paper's in "
        "the second column.",
        "",
        "| mean FCT | paper, 5 MB | float32 | int8 | trees |",
        "|---|---|---|---|---|",
    ]
    for hosts in ("36", "48"):
        for other, theirs in PAPER[hosts].items():
            lines.append(
                f"| {hosts} hosts, {other} | {theirs:+d} | {_row(o, f'bursty, {hosts}', other, 'fct_mean_us')} |"
            )
    lines += ["", "| goodput, greatest of 12 to 48 hosts | paper | float32 | int8 | trees |", "|---|---|---|---|---|"]
    for other, theirs in PAPER["throughput"].items():
        best = max(gradual, key=lambda place: _gain(o, place, other))
        lines.append(f"| {other}, {best.rpartition(' ')[2]} hosts | {theirs:+d} | {_row(o, best, other, 'goodput')} |")
    return "\n".join([*lines, "", *_words(o, burst)]) + "\n"


def _int8_table(o: Outcomes) -> list[str]:
    """What the networks take, as measured."""
    rows = ["| int8 | multiply-adds | bytes | cycles, mean | slowest vector | a multiply-add | 48 ports in turn, us |"]
    rows.append("|---|---|---|---|---|---|---|")
    for name, networks in o.int8.items():
        for what, one in zip(("asked every time", "trigger"), networks, strict=False):
            each = f"{one.mean / one.multiply_adds:.1f} | {48 * one.mean_ps / US:.0f}"
            taken = f"{one.multiply_adds} | {one.code_bytes:,} | {one.mean:.0f} | {one.slowest}"
            rows.append(f"| {name}, {what} | {taken} | {each} |")
    return rows if o.int8 else []


def _words(o: Outcomes, burst: list[str]) -> list[str]:
    """What the figures say, from the figures."""
    worst = burst[-1]
    busy = {name: o.mean(worst, name, "engine_utilisation_max") for name in o.ports}
    full = [name for name, share in busy.items() if share > 0.95]
    late = {name: o.mean(worst, name, "decision_latency_mean_us") for name in o.ports}
    by_trees = late["ACC, trees"] - late["HAECN, trees"]
    return [
        f"In the bursty networks of {HOSTS[-1]} hosts a CPU is full with {', '.join(full) or 'none of them'}. With "
        f"trees the busiest is {busy['ACC, trees']:.0%} busy for ACC and "
        f"{busy['HAECN, trees']:.0%} for HAECN, and a setting of HAECN's comes {abs(by_trees):.1f} us "
        f"{'sooner' if by_trees > 0 else 'later'} than ACC's: "
        "what HAECN was made to save the trees save already. What the two differ by "
        "there in FCT and goodput is what they decide, not when.",
        "",
        "The paper's gains are not reproduced. From 36 hosts on whoever marks gives the same to the digit, "
        "DCQCN's own setting among them: over a hundred senders hold a queue of 5 to 7 MB, above the Kmax of "
        "every row but the last, so everything is marked whatever was decided, and late decisions cost nothing. "
        "At 12 hosts a full CPU does not cost ACC either: its FCT is lower there than that of its trees. The "
        "goodput that any scheme could gain is what the headers leave, 0.926, and all that mark have it. The "
        "paper prints neither the cost of an inference nor the CPU that it loads, neither table nor width of its "
        "networks, nor w; its flows are larger and its runs longer.",
    ]


def _row(o: Outcomes, place: str, other: str, metric: str) -> str:
    named = [f"{other}, {form}" if other == "ACC" else other for form in FORMS]
    return " | ".join(o.against(place, f"HAECN, {form}", n, metric) for form, n in zip(FORMS, named, strict=True))


def _gain(o: Outcomes, place: str, other: str) -> float:
    named = "ACC, float32" if other == "ACC" else other
    return o.mean(place, "HAECN, float32", "goodput") / o.mean(place, named, "goodput")


def add_runs(parser: argparse.ArgumentParser) -> None:
    """Where both recipes' runs are."""
    parser.add_argument("--acc-run", type=Path, default=Path("runs/acc"), help="what rlcc run recipes/acc.toml wrote")
    parser.add_argument("--run", type=Path, default=Path("runs/haecn"), help="what rlcc run recipes/haecn.toml wrote")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m papers.haecn", description="HAECN's comparison beside ours.")
    add_runs(parser)
    parser.add_argument("--seeds", type=int, choices=range(1, 100), metavar="N", default=3)
    add_options(parser)
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.add_argument("--work", type=Path, default=contenders.ROOT / "build" / "papers", help="kept runs")
    options = parser.parse_args(arguments)
    try:
        outcomes = played(options.acc_run, options.run, options.seeds, options.work / "runs", place_of(options))
        write_atomically(options.out, page(outcomes))
    except InputError as error:
        print(f"papers: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

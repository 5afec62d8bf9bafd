"""ACC under distributed training ([ACC] section 5.3.2, figure 10): workers and a parameter server, periodic."""

from collections.abc import Sequence
from dataclasses import dataclass

from netsim.network import MS, Network
from papers.acc_cases import ACC, STATIC, TREE, Case, Outcomes, with_seeds
from rlcc.evaluation.grid import Times
from rlcc.reports.pages import listed, table

WORKERS, BATCH = 7, 64
TIMES = Times(5000 * MS, (0, 5000 * MS))


@dataclass(frozen=True)
class Model:
    """``parameters``: of torchvision's, in 32 bits each; ``images_per_s``: of one P100, TensorFlow's benchmarks of May
    2017 (DGX-1, synthetic data; ResNet-50 with the paper's batch, AlexNet with one of 512)."""

    parameters: int
    images_per_s: int

    @property
    def traffic(self) -> str:
        return f"parameter-server:{WORKERS}x{self.parameters * 4 // 1000}KB:{self.computing_ms}ms"

    @property
    def computing_ms(self) -> int:
        return round(BATCH * 1000 / self.images_per_s)


MODELS = {"ResNet-50": Model(25_557_032, 219), "AlexNet": Model(61_100_840, 2987)}


def cases(network: Network, seeds: Sequence[int]) -> list[Case]:
    return [
        Case(name, with_seeds(m.traffic, seeds), TIMES, (*STATIC, ACC, TREE), network) for name, m in MODELS.items()
    ]


def speed(o: Outcomes, made: Sequence[Case]) -> Outcomes:
    """With ``images_per_s`` of all workers, of a mean round and its computing."""
    images = WORKERS * BATCH
    return Outcomes(
        {
            (case.name, who): [
                m | {"images_per_s": images / (m["round_mean_us"] * 1e-6 + MODELS[case.name].computing_ms * 1e-3)}
                for m in o.metrics[case.name, who]
            ]
            for case in made
            for who in case.who
        }
    )


def line_rate_ms(model: Model, network: Network) -> float:
    """What gradients and parameters take on the server's link and nothing else, in ms."""
    packets = -(-model.parameters * 4 // network.payload_bytes)
    return 2 * WORKERS * packets * network.data_wire_bytes * network.ps_per_byte / MS


def section(given: Outcomes, made: Sequence[Case]) -> str:
    o = speed(given, made)
    begin, end = TIMES.window_ps
    rows = []
    for case in made:
        for who in case.who:
            rows.append(
                [
                    f"{case.name}, {who}",
                    o.figure(case, who, "round_mean_us").times(1e-3).text(1),
                    o.figure(case, who, "images_per_s").text(1),
                    *(o.against(case, who, other, "images_per_s") for other in STATIC),
                    o.figure(case, who, "pfc_pauses").times(1000 * MS / (end - begin)).text(1),
                    o.figure(case, who, "pfc_paused_share").times(100).text(3),
                    *(o.figure(case, who, f"latency_{what}_us").text(1) for what in ("mean", "p99")),
                ]
            )
    told = " and ".join(
        f"{m.parameters * 4 / 1e6:.1f} MB and {m.computing_ms} ms of computing of {name}" for name, m in MODELS.items()
    )
    rounds = " and ".join(f"{o.figure(case, ACC, 'rounds').mean:.0f}" for case in made)
    first = made[0]
    off = [f"{o.mean_off(first, ACC, other, 'latency_mean_us'):+.0f} % against {other}" for other in STATIC]
    spread = max(_spread(o, case) for case in made)
    floor = line_rate_ms(MODELS[first.name], first.network)
    slowest = max(o.figure(first, who, "round_mean_us").mean for who in first.who) * 1e-3
    heads = ["", "exchange, ms", "images/s", "against SECN1 %", "against SECN2 %", "pauses a second", "paused %"]
    return f"""{WORKERS} workers and a parameter server at 25 Gb/s on one switch: all gradients to the server, all
parameters back, then computing: {told} (torchvision's sizes; a batch of {BATCH} at the speed of one P100 in
TensorFlow's benchmarks of May 2017, AlexNet's with a batch of 512). Nothing is sent while workers compute; real
training overlaps the two. {(end - begin) // (1000 * MS)} s, in which {rounds} rounds end. "Latency" is of all
packets; half of them go back from the server and meet no queue at its port.

{table([*heads, "latency us", "p99"], rows)}
The paper, ResNet-50: up to +7 % against SECN1 and +12 % against SECN2, and a lower round-trip latency. Ours with it:
ACC's latency is {listed(off)}. Speeds are within {spread:.1f} % of each other: at line rate an exchange takes
{floor:.1f} ms, the slowest here {slowest:.1f}, so that no more than {100 * (slowest / floor - 1):.1f} % of it is
anybody's to gain."""


def _spread(o: Outcomes, case: Case) -> float:
    """Of the speeds of everybody, the greatest over the least, in %."""
    speeds = [o.figure(case, who, "images_per_s").mean for who in case.who]
    return 100 * (max(speeds) / min(speeds) - 1)

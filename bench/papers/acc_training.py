"""ACC under distributed training ([ACC] section 5.3.2, figure 10): workers and a parameter server, periodic."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.papers.acc_cases import ACC, STATIC_AND_OURS, Case, Outcomes, with_seeds
from bench.papers.found import listed, table
from netsim.network import MS, Network
from rlcc.evaluation.grid import Times

WORKERS, BATCH = 7, 64
STATIC = STATIC_AND_OURS[:2]
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
    return [Case(name, with_seeds(m.traffic, seeds), TIMES, STATIC_AND_OURS, network) for name, m in MODELS.items()]


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


def section(given: Outcomes, made: Sequence[Case]) -> str:
    o = speed(given, made)
    rows = []
    for case in made:
        for who in case.who:
            rows.append(
                [
                    f"{case.name}, {who}",
                    o.figure(case, who, "round_mean_us").times(1e-3).text(1),
                    o.figure(case, who, "images_per_s").text(1),
                    *(o.against(case, who, other, "images_per_s") for other in STATIC),
                    o.figure(case, who, "pfc_pauses").times(1e12 / TIMES.duration_ps).text(1),
                    o.figure(case, who, "pfc_paused_share").times(100).text(3),
                    *(o.figure(case, who, f"latency_{what}_us").text(1) for what in ("mean", "p99")),
                ]
            )
    most = max(abs(o.mean_off(case, ACC, other, "images_per_s")) for case in made for other in STATIC)
    shorter = [f"{-o.mean_off(made[0], ACC, other, 'latency_mean_us'):.0f} % less than {other}'s" for other in STATIC]
    pauses = sum(o.figure(case, who, "pfc_pauses").mean for case in made for who in case.who)
    heads = ["", "exchange, ms", "images/s", "against SECN1 %", "against SECN2 %", "pauses a second", "paused %"]
    told = " and ".join(
        f"{m.parameters * 4 / 1e6:.1f} MB and {m.computing_ms} ms of computing of {name}" for name, m in MODELS.items()
    )
    return f"""{WORKERS} workers and a parameter server at 25 Gb/s on one switch: all gradients to the server, all
parameters back, then computing: {told}, a batch of {BATCH}: torchvision's sizes, and what one P100 does by TensorFlow's
benchmarks of May 2017. Nothing is sent while workers compute, which real ones do. "Latency" is a packet's, of any that
are sent meanwhile: what a small message waits.

{table([*heads, "latency us", "p99"], rows)}
The paper, ResNet-50: up to +7 % against SECN1 and +12 % against SECN2, fewer pauses and a lower latency. Ours with
it: ACC's latency is {listed(shorter)}; no speed differs by more than {most:.1f} %: {WORKERS} long flows fill the
server's link whatever is marked; {"nobody pauses" if pauses == 0 else "pauses are in the table"}."""

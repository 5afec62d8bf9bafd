"""Policies and baselines at a policer and next to TCP in one queue, under both transports.

- At a policer: three senders, one receiver with a token bucket of half the line rate; payload as a share of that rate.
- Next to TCP: half of eight flows are TCP CUBIC's without ECN; mean goodput of the others as a share of a fair one.
- In a class of their own: the same, and TCP's flows have another queue of equal weight.

    python -m bench.policers [POLICY ...] [--seeds N] [--where PLACE] [--jobs N] [--out FILE]
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from bench.contenders_page import write_page
from bench.shipped import POLICIES, beside_cut, listed
from decision.devices import TRANSPORTS
from netsim.baselines import by_name
from netsim.mixes import Mix, Part
from netsim.network import MS, Network
from netsim.places import Place
from netsim.result_store import Kept
from netsim.trials import Trial, run
from rlcc.commands.console import counted
from rlcc.evaluation.contenders import Contender
from rlcc.origin import made_by
from rlcc.reports.pages import table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "policers.md"
KEPT = ROOT / "build" / "policers"
CONTENDERS = (*POLICIES, "dcqcn", "hpcc", "swift", "dctcp", "timely", "nscc")
WINDOW_PS = (50 * MS, 150 * MS)
POLICER_GBPS = 50
POLICED_AIM, FAIR_AIM = 0.9, 0.25
"""Least shares that are aimed at: of the policer's rate, and of a fair share next to TCP."""


@dataclass(frozen=True)
class Contest:
    """A column of the table: where a contender runs, and the metric that counts, times ``scale``."""

    name: str
    scenario: str
    metric: str
    aim: float | None
    scale: float = 1.0
    policer_gbps: int | None = None
    tcp: bool = False
    classes: int = 1

    def trial(self, contender: Contender, transport: str, seed: int) -> Trial:
        """Returns one run of a contender."""
        policy = contender.alone
        spec = Mix((Part(policy, 50), Part(by_name("cubic"), 50, klass=self.classes - 1))) if self.tcp else policy
        weights = (1,) * self.classes
        network = Network(transport=transport, policer_gbps=self.policer_gbps, class_weights=weights)
        return Trial(
            self.scenario,
            spec,
            seed=seed,
            duration_ps=WINDOW_PS[1],
            window_ps=WINDOW_PS,
            decision_latency_ps=contender.decision_latency_ps,
            network=network,
            name=contender.label,
        )


CONTESTS = (
    Contest("at the policer", "many-to-one:3", "goodput", POLICED_AIM, 100 / POLICER_GBPS, POLICER_GBPS),
    Contest("dropped there", "many-to-one:3", "loss", None, policer_gbps=POLICER_GBPS),
    Contest("next to TCP", "many-to-one:8", "a_fair", FAIR_AIM, tcp=True),
    Contest("class of their own", "many-to-one:8", "a_fair", FAIR_AIM, tcp=True, classes=2),
)
READING = """
At a policer nothing queues, so that delays and marks stay as in an empty network. Algorithms that do not answer to
losses fill the port. Under go-back-N the receiver then throws away most of what the policer lets pass, and selective
repeat keeps it. The three policies read no loss signal; a policy with `nack_count` among its features was not trained.
The last row has the flagship's weights and a cut by losses
([`[start.loss]`](../reference/policy-toml.md#a-cut-by-losses)).

TCP fills the shared buffer until packets are dropped, and an algorithm that holds a delay gives way to it. A queue of
their own with an equal weight (`class_weights`) gives the other flows their share again.
"""
Results = Mapping[tuple[str, str, str], float]


def results(contenders: Sequence[Contender], seeds: Sequence[int], where: Place) -> Results:
    """Returns the mean over the seeds for each contender, contest and transport."""
    places = [(c, contest, transport) for c in contenders for contest in CONTESTS for transport in TRANSPORTS]
    trials = [[contest.trial(c, transport, seed) for seed in seeds] for c, contest, transport in places]
    # Two contests read two metrics of the same runs.
    unique = {trial.key(): trial for each in trials for trial in each}
    outcomes = zip(unique, run(list(unique.values()), where, Kept(KEPT)), strict=True)
    metrics = {key: outcome.metrics for key, outcome in outcomes}
    return {
        (c.label, contest.name, transport): mean(metrics[trial.key()][contest.metric] for trial in each) * contest.scale
        for (c, contest, transport), each in zip(places, trials, strict=True)
    }


def page(contenders: Sequence[Contender], seeds: Sequence[int], where: Place) -> str:
    """Returns the page as Markdown."""
    found = results(contenders, seeds, where)
    many = counted(len(seeds), "seed")
    text = f"""# At a policer and next to TCP
{made_by("python -m bench.policers")}

100 Gb/s, {WINDOW_PS[0] // MS} to {WINDOW_PS[1] // MS} ms, mean over {many}, under go-back-N / selective repeat.
**Bold**: the aim under both, at least {POLICED_AIM} of the policer's rate and {FAIR_AIM} of a fair share.

- **At the policer**: three senders into a token bucket of {POLICER_GBPS} Gb/s and 64 KiB in front of the receiver;
  payload as a share of its rate. Headers take 5.7 % of it, so .943 is all.
- **Dropped there**: packets that the policer drops, as a share of what is sent.
- **Next to TCP**: eight flows, half of them TCP CUBIC without ECN in the same queue; goodput of a flow that is not
  TCP's as a share of all flows' mean.
- **Class of their own**: TCP has another queue of the same weight.

"""
    text += listed(contenders)
    rows = []
    for c in contenders:
        cells = []
        for contest in CONTESTS:
            values = [found[c.label, contest.name, transport] for transport in TRANSPORTS]
            shown = " / ".join(f"{value:.3f}" for value in values)
            reached = contest.aim is not None and min(values) >= contest.aim
            cells.append(f"**{shown}**" if reached else shown)
        rows.append([c.label, *cells])
    return text + READING + "\n" + table(["algorithm", *(contest.name for contest in CONTESTS)], rows)


def with_cut_rows(contenders: Sequence[Contender], seeds: Sequence[int], where: Place) -> str:
    """Returns the page, the flagship with a cut by losses among its rows."""
    return page(beside_cut(contenders), seeds, where)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page and returns 0, or prints the reason why not and returns 2."""
    return write_page(arguments, "policers", "Policers and TCP.", with_cut_rows, PAGE, CONTENDERS, seeds=3)


if __name__ == "__main__":
    sys.exit(main())

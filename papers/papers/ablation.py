"""RL-CC, figure 3: what target and beta do to bandwidth and latency, each trained for.

python -m papers.ablation [--train] [--seeds N] [--where PLACE] [--jobs N] [--docs FOLDER] [--work FOLDER]
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from decision.artefact.errors import InputError
from netsim.network import MS
from netsim.policies import PolicySpec, native, turned
from netsim.simulation import DECISION_LATENCY_PS
from papers import theory
from papers.command import add_docs, page_parser, run_sections, store, written
from papers.contenders import ROOT, TEACHERS, Contender
from papers.found import Found
from papers.pictures import Bubbles, bubbles
from papers.sections import GOODPUT, LATENCY, LOSS, UNFAIRNESS, Section, cell
from papers.target import tunable_teacher
from papers.theory import BETA, TARGET
from papers.traffic import TIMES, four_to_one
from papers.trained import MLP, Aim, trained
from rlcc.origin import made_by
from rlcc.reports.pages import listed, table, wrapped
from teachers.load import load
from teachers.teacher import Teacher

BETAS = (0.0, 1.0, 1.25, 1.5, 2.0, 3.0)
TARGETS = (0.016, 0.032, 0.064, 0.128, 0.64)
AIMS = tuple(dict.fromkeys([*(Aim(beta=b) for b in BETAS), *(Aim(t) for t in TARGETS)]))
FLOWS = (4, 16, 64, 256, 1024, 4096)
TRAFFIC = tuple(four_to_one(n, TIMES) for n in FLOWS)
SHIPPED = Aim()
TURNED = "turned to target"


def teachers(work: Path, now: bool) -> dict[Aim, Teacher]:
    """The shipped one, and those trained for other aims: all where ``now``, else those that are kept."""
    return {SHIPPED: load(TEACHERS / "rl-cc-mlp")} | trained([a for a in AIMS if a != SHIPPED], work, now)


def who(made: Mapping[Aim, Teacher]) -> dict[str, Contender]:
    """Those that were trained, and the shipped one turned to their targets."""
    found: dict[str, PolicySpec] = {str(aim): native(t.policy, t.weights) for aim, t in made.items()}
    tunable = tunable_teacher(made[SHIPPED])
    found |= {turned_to(target): turned(tunable, target / TARGET) for target in TARGETS}
    return {label: Contender(label, policy, DECISION_LATENCY_PS) for label, policy in found.items()}


def turned_to(target: float) -> str:
    return f"{TURNED} {target:g}"


def sections(made: Sequence[Aim]) -> list[Section]:
    betas = [a for a in (Aim(beta=b) for b in BETAS) if a in made]
    targets = [a for a in (Aim(t) for t in TARGETS) if a in made]
    retrained = [a.target for a in targets if a != SHIPPED]
    pairs = tuple(label for t in retrained for label in (str(Aim(t)), turned_to(t)))
    found = [
        Section(title, tuple(map(str, aims)), TRAFFIC, lambda f, aims=aims: _one(f, aims))  # type: ignore[misc]
        for title, aims in (("Varying beta", betas), ("Varying target", targets))
        if len(aims) > 1
    ]
    turned_beside = Section("Turned in place of trained", pairs, TRAFFIC, lambda f: _turned(f, retrained))
    return found + ([turned_beside] if retrained else [])


def picture(f: Found, made: Sequence[Section]) -> bytes:
    """Goodput over latency, a line a training, the larger a bubble the more flows."""
    panels = [
        Bubbles(section.title, LATENCY, GOODPUT, {c: [(c, t) for t in TRAFFIC] for c in section.contenders})
        for section in made
        if section.title.startswith("Varying")
    ]
    return bubbles(f, panels, min(len(panels), 2))


def fixed_point(aim: Aim, flows: int) -> float:
    """RTT inflation by the paper's equation 2, where flows have their fair share; 1 is an empty network."""
    return max(theory.fixed_point(flows, aim.target, aim.beta), 1.0)


def _one(f: Found, aims: Sequence[Aim]) -> str:
    parts = []
    for column in (GOODPUT, LATENCY, UNFAIRNESS, LOSS):
        rows = [[str(aim), *(cell(f, str(aim), t, column) for t in TRAFFIC)] for aim in aims]
        parts.append(table([column.heading, *(f"{t.flows:,} flows" for t in TRAFFIC)], rows))
    off = []
    for aim in aims:
        each = [f.mean(str(aim), t, "rtt_inflation_mean") / fixed_point(aim, t.flows) - 1 for t in TRAFFIC]
        off.append(f"{aim}: {max(each, key=abs):+.1%}")
    less = [
        str(a)
        for a in aims
        if f.mean(str(a), TRAFFIC[0], "goodput") < f.mean(str(SHIPPED), TRAFFIC[0], "goodput") - 0.01
    ]
    few = f"Less goodput than {SHIPPED} with {FLOWS[0]} flows, by more than 0.01: {listed(less) or 'none'}."
    return f"""{chr(10).join(parts)}
RTT inflation against target sqrt(N) + beta, furthest off: {"; ".join(off)}. {few}
"""


def _turned(f: Found, targets: Sequence[float]) -> str:
    parts = []
    for column in (GOODPUT, LATENCY, UNFAIRNESS):
        rows = [
            [label, *(cell(f, label, t, column) for t in TRAFFIC)]
            for target in targets
            for label in (str(Aim(target)), turned_to(target))
        ]
        parts.append(table([column.heading, *(f"{t.flows:,} flows" for t in TRAFFIC)], rows))
    apart = []
    for target in targets:
        trained, other = str(Aim(target)), turned_to(target)
        latency = [f.mean(other, t, "latency_mean_us") / f.mean(trained, t, "latency_mean_us") - 1 for t in TRAFFIC]
        goodput = [f.mean(other, t, "goodput") - f.mean(trained, t, "goodput") for t in TRAFFIC]
        apart.append(f"{target:g}: latency {max(latency, key=abs):+.1%}, goodput {max(goodput, key=abs):+.3f}")
    return f"""The shipped teacher, its target turned by an
[operator's parameter](../../docs/reference/policy-toml.md#the-operators-target), beside teachers trained for the
target. [Turned further, and the tree](target.md#1024-to-1).

{chr(10).join(parts)}
Turned against trained, furthest apart: {"; ".join(apart)}.
"""


def page(f: Found, made: Sequence[Section], trainings: Sequence[Aim]) -> str:
    """The whole page."""
    missing = [str(a) for a in AIMS if a not in trainings]
    draft = f" Not trained yet, and so not here: {listed(missing)}." if missing else ""
    head = f"""# RL-CC's figure 3: target and beta

{made_by("python -m papers.ablation")}

[RLCC] section 4, figure 3: bandwidth against latency for values of beta and of the target; which, the text does not
say. Each policy here is RL-CC's MLP trained for its own aim by `{MLP.relative_to(ROOT)}` with nothing else changed but
the feature's scale (by as much less as the target is more), one training seed each; target {TARGET:g}, beta {BETA:g} is
the shipped teacher.{draft} 4 hosts to 1, as in the paper; {TIMES.duration_ps // MS} ms, measured from
{TIMES.window_ps[0] // MS} to {TIMES.window_ps[1] // MS} ms, of the paper's 1 s. Decisions take effect after 0.9 us.
Seeds {listed([f"{s}" for s in f.seeds])}, ± is the half-width of the 99 % confidence interval of the mean.

![goodput against latency, a line a training](figures/rl-cc-figure-3.svg)

Upper left is better; the larger a bubble, the more flows.

The paper: a low beta makes for instability with few flows and so costs bandwidth there, and matters little with many; a
higher target gives more throughput and more latency; too small a target asks for a near-empty queue and is unstable."""
    return wrapped("\n\n".join([head, *(f"## {section.title}\n{section.write(f)}" for section in made)]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = page_parser("ablation", "RL-CC's figure 3.", "kept runs and trainings")
    add_docs(parser)
    parser.add_argument("--train", action="store_true", help="train for the aims that are not kept; minutes each")
    return written(parser, arguments, _write)


def _write(options: argparse.Namespace) -> None:
    seeds = range(1, 1 + options.seeds)
    given = teachers(options.work, options.train)
    if len(given) == 1:
        raise InputError("nothing was trained for other targets or betas; give --train, which takes minutes each")
    made = sections(tuple(given))
    found = Found(run_sections(made, who(given), seeds, options), seeds)
    store(options.docs / "figures" / "rl-cc-figure-3.svg", picture(found, made))
    store(options.docs / "ablation.md", page(found, made, tuple(given)).encode())


if __name__ == "__main__":
    sys.exit(main())

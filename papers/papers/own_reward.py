"""PCC-RL's tables 3 to 5 with its own reward: RTT inflation x sqrt(rate) at its targets 1, 2 and 20, no tolerance.

python -m papers.own_reward [--train] [--seeds N] [--where PLACE] [--jobs N] [--out FILE] [--work FOLDER]
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, sqrt
from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.policy.student import NAME, Student, load_student
from distill.options import DistillOptions, RolloutOptions
from netsim.policies import PolicySpec, interpreted, native
from netsim.simulation import DECISION_LATENCY_PS
from papers import published as p
from papers.command import page_parser, written
from papers.contenders import PAGES, ROOT, TARGETS, TEACHERS, Contender, retargeted
from papers.found import Found, beside
from papers.pcc_rl import FULL_BUFFER, recovery
from papers.runs import Run, run_all
from papers.sections import (
    DROPS,
    FAIRNESS,
    GOODPUT,
    INFLATION,
    LOSS,
    QUEUE,
    UTILISATION,
    Column,
    agreement,
    cell,
)
from papers.traffic import TIMES, Traffic, named
from papers.trained import PCC_RL, OwnReward, distilled, trained
from rlcc.commands.run_location import place_of
from rlcc.origin import made_by
from rlcc.reports.pages import listed, table, wrapped
from teachers.curriculum import load_recipe
from teachers.load import load
from teachers.teacher import Teacher

PAGE = PAGES / "own-reward.md"
LARGEST = named("many-to-one:8192", TIMES)
FEWER = tuple(named(f"many-to-one:{n}", TIMES) for n in (2, 8, 64, 512))
ALL_TO_ALL = tuple(named(f"all-to-all:{n}", TIMES) for n in p.ALL_TO_ALL)
LONG_SHORT = tuple(named(f"long-short:{n}", TIMES) for n in p.LONG_SHORT)
TRAFFIC = (LARGEST, *FEWER, *ALL_TO_ALL, *LONG_SHORT)
NETWORK, TREES, RATIO = "LSTM", "trees", "ratio kept"
WATCHED = RolloutOptions.model_validate(
    {
        "scenarios": ["many-to-one:2", "many-to-one:8", "many-to-one:64", "many-to-one:512", "long-short:9"],
        "duration": "40 ms",
    }
)
STUDENT = DistillOptions(
    trees=10, depth=4, window=4, rounds=2, comparison_scenarios=["many-to-one:8", "many-to-one:64"]
)


@dataclass(frozen=True)
class Made:
    """One training: the teacher, and the student that was distilled of it."""

    teacher: Teacher
    student: Student


Trainings = Mapping[str, Sequence[Made]]
"""By the paper's word for the target; one a seed."""


def label(kind: str, name: str) -> str:
    return f"{name}, {kind}"


def make(seeds: Sequence[int], work: Path, now: bool) -> Trainings:
    """Of every target and seed the teacher and its student; where not ``now``, of targets that are kept whole."""
    aims = {name: [OwnReward(float(target), seed) for seed in seeds] for name, target in p.TARGETS.items()}
    given = trained([aim for its in aims.values() for aim in its], work, now)

    def student(aim: OwnReward) -> Student:
        return load_student(distilled(given[aim], WATCHED, STUDENT, work, aim.seed) / NAME)

    return {
        name: [Made(given[aim], student(aim)) for aim in its]
        for name, its in aims.items()
        if all(aim in given for aim in its)
    }


def runs_of(made: Trainings, seeds: Sequence[int]) -> list[Run]:
    """Each training in each network with its own seed, and beside it RL-CC's reward at a target in that ratio."""
    ours = load(TEACHERS / "pcc-rl-lstm")
    runs = []
    for name, its in made.items():
        for seed, one in zip(seeds, its, strict=True):
            who: dict[str, PolicySpec] = {
                NETWORK: native(one.teacher.policy, one.teacher.weights),
                TREES: interpreted(one.student),
                RATIO: retargeted(ours, TARGETS[name], "rtt"),
            }
            contenders = [Contender(label(kind, name), policy, DECISION_LATENCY_PS) for kind, policy in who.items()]
            runs += [Run(each, traffic, seed) for each in contenders for traffic in TRAFFIC]
    return runs


def fits(target: float) -> int:
    """With how many flows at the most the fixed point, target x sqrt(N), stands before a full buffer."""
    return floor((FULL_BUFFER / target) ** 2)


def _inflation(f: Found, made: Trainings) -> str:
    tables = []
    for column in (INFLATION, UTILISATION, LOSS):
        rows = []
        for name in made:
            rows += [[label(k, name), *(cell(f, label(k, name), t, column) for t in FEWER)] for k in (NETWORK, TREES)]
            if column is INFLATION:
                target = p.TARGETS[name]
                rows.append([f"{target} x sqrt(N)", *(f"{target * sqrt(t.flows):.2f}" for t in FEWER)])
        tables.append(table([column.heading, *(f"{t.flows} flows" for t in FEWER)], rows))
    most = listed([f"{fits(p.TARGETS[name]):,} ({name})" for name in made])
    return f"""{chr(10).join(tables)}
A full buffer stands for an inflation of {FULL_BUFFER:.1f}: the fixed point stands before it with at most {most} flows.
With more of them inflation x sqrt(rate) is below the target even where the buffer is full, and the reward asks for
more rate, whatever is lost."""


def _rows(f: Found, made: Trainings, t: Traffic, columns: Sequence[Column], printed: Mapping[str, object]) -> str:
    """A row a target and kind; the paper's behind each of ours."""
    rows = []
    for name in made:
        paper = printed[name]
        assert isinstance(paper, tuple)
        for kind in (NETWORK, TREES, RATIO):
            who = label(kind, name)
            cells = [beside(cell(f, who, t, c), paper[i]) for i, c in enumerate(columns)]
            rows.append([who, *cells, cell(f, who, t, GOODPUT), cell(f, who, t, LOSS)])
    heads = [t.name, *(c.heading for c in columns), GOODPUT.heading, LOSS.heading]
    return table(heads, rows)


def _same_way(f: Found, made: Trainings, kind: str, t: Traffic, c: Column, printed: Sequence[float]) -> tuple[int, int]:
    """Of the pairs of targets that the paper tells apart, how many ours order as it does."""
    ours = [round(f.mean(label(kind, name), t, c.metric) * c.factor, c.decimals) for name in made]
    return agreement(list(zip(ours, printed, strict=True)))


def words(f: Found, made: Trainings, t: Traffic, columns: Sequence[Column], printed: Mapping[str, object]) -> str:
    """In how many pairs of targets ours go the paper's way."""
    said = []
    for kind in (NETWORK, TREES, RATIO):
        same = both = 0
        for i, c in enumerate(columns):
            a, b = _same_way(f, made, kind, t, c, [printed[name][i] for name in made])  # type: ignore[index]
            same, both = same + a, both + b
        said.append(f"{kind} {same} of {both}")
    return f"Pairs of targets that both tell apart and that go the paper's way, all columns: {', '.join(said)}."


def _table_3(f: Found, made: Trainings) -> str:
    columns = (UTILISATION, FAIRNESS, QUEUE, DROPS)
    queue = listed([f"{f.mean(label(NETWORK, name), LARGEST, 'queue_mean_us'):.0f}" for name in made])
    papers = listed([f"{p.TABLE_3[name][2]:g}" for name in made])
    lossy = [name for name in made if f.most(label(NETWORK, name), LARGEST, "dropped_packets") > 0]
    asked = listed([f"{p.TARGETS[name] * sqrt(LARGEST.flows):,.0f}" for name in made])
    return f"""{_rows(f, made, LARGEST, columns, p.TABLE_3)}
{words(f, made, LARGEST, columns, p.TABLE_3)} Queues of the LSTM, us: {queue}; the paper's {papers}. The paper's
drop nothing at any target; here {listed(lossy) or "none"} drop{"s" if len(lossy) == 1 else ""}. The reward as it is
printed asks for inflations of {asked} with 8192 flows, with rate a fraction of the line: none of them stands before a
full buffer, and none of the paper's queues is in proportion to its target. What the paper's rate is a fraction of, or
what else holds its flows back, is not printed."""


def _table_4(f: Found, made: Trainings) -> str:
    columns = (UTILISATION, FAIRNESS, QUEUE)
    parts = []
    for i, t in enumerate(ALL_TO_ALL):
        printed = {name: p.TABLE_4[name][i] for name in made}
        parts.append(f"{_rows(f, made, t, columns, printed)}\n{words(f, made, t, columns, printed)}\n")
    queues = [[f.mean(label(NETWORK, name), t, "queue_mean_us") for name in made] for t in ALL_TO_ALL]
    alike = all(max(q) - min(q) < 0.05 for q in queues)
    says = "makes no difference" if alike else "makes a difference"
    return f"""{chr(10).join(parts)}
The target {says} of 0.05 us of the LSTM's queue here. The sender's own link is the bottleneck: queues stay short,
inflation x sqrt(rate) stays below every target, and all flows send what their NICs let them. The paper's differ by
target, in no order: what makes the queues of its all-to-all is not printed."""


def _table_5(f: Found, made: Trainings) -> str:
    rows = []
    for name in made:
        for kind in (NETWORK, TREES, RATIO):
            who = label(kind, name)
            printed = [None if s is None else s * 1e3 for s in p.TABLE_5[name]]
            rows.append([who, *(beside(recovery(f, who, t), x) for t, x in zip(LONG_SHORT, printed, strict=True))])
    lost = [[label(k, n), *(cell(f, label(k, n), t, LOSS) for t in LONG_SHORT)] for n in made for k in (NETWORK, TREES)]
    heads = [f"{n} flows" for n in p.LONG_SHORT]
    least = [f.mean(label(NETWORK, name), LONG_SHORT[0], "recovery_us") / 1e3 for name in made]
    sooner = "the same way" if least == sorted(least, reverse=True) else "another order"
    return f"""Recovery in ms, ours / the paper's; behind ours how many of the rounds ended with one
([what it is](tables.md#pcc-rl-table-8-long-short)).

{table(["recovery ms", *heads], rows)}
{table(["loss", *heads], lost)}
The paper: the looser, the sooner; its strict and standard ones lose the recoveries of 1024 flows and more. Ours with
{LONG_SHORT[0].flows} flows, ms: {listed([f"{x:.2f}" for x in least])}: {sooner}. With 128 flows and more those that
come together at line rate drop most of what they send, whatever the target, and at most half of the rounds end with a
recovery."""


def page(f: Found, made: Trainings) -> str:
    """The whole page."""
    training = load_recipe(PCC_RL).training
    missing = [f"{name} ({target})" for name, target in p.TARGETS.items() if name not in made]
    draft = f" Not trained yet, and so not here: {listed(missing)}." if missing else ""
    ms = [t // 10**9 for t in (TIMES.duration_ps, *TIMES.window_ps)]
    head = f"""# PCC-RL's targets with its own reward

{made_by("python -m papers.own_reward")}

[PCCRL] section 5 rewards -(target - RTT inflation x sqrt(rate))^2, without RL-CC's tolerance; tables 3 to 5 show
targets 1, 2 and 20. [Tables 3 to 5 of the other page](tables.md#pcc-rl-table-3-targets-8192-to-1) keep only the ratio
of these targets, with RL-CC's reward (beta 1.5) and one training. Here PCC-RL's network (32, 16, an LSTM of 16) is
trained for each target with that reward in its own training set, {listed([f"`{s}`" for s in training.scenarios])}, by
`{PCC_RL.relative_to(ROOT)}` with the target replaced and the feature's scale divided by as much: {training.episodes}
episodes each, training seeds {listed([str(s) for s in f.seeds])}.{draft} *trees*: of each training
{STUDENT.trees} trees of depth {STUDENT.depth} that see the last {STUDENT.window} decisions, distilled with
{STUDENT.rounds} rounds of DAgger, run as their integer program. *{RATIO}*: RL-CC's reward at
{listed([f"{TARGETS[name]:g}" for name in made])}, as on the other page. Each seed's training meets the networks of that
seed: ± is the half-width of the 99 % confidence interval of the mean, over trainings and runs alike. {ms[0]} ms from an
empty network, measured from {ms[1]} to {ms[2]} ms; decisions take effect after 0.9 us."""
    parts = {
        "The fixed point": _inflation(f, made),
        "Table 3: 8192 to 1": _table_3(f, made),
        "Table 4: all-to-all": _table_4(f, made),
        "Table 5: long-short": _table_5(f, made),
    }
    return wrapped("\n\n".join([head, *(f"## {title}\n{text}" for title, text in parts.items())]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = page_parser("own_reward", "PCC-RL's tables 3 to 5 with its own reward.", "kept runs and trainings")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    parser.add_argument("--train", action="store_true", help="train what is not kept; up to half a minute each")
    return written(parser, arguments, _write)


def _write(options: argparse.Namespace) -> None:
    seeds = range(1, 1 + options.seeds)
    made = make(seeds, options.work, options.train)
    if not made:
        raise InputError("nothing is trained with every seed; give --train, which takes some minutes")
    found = run_all(runs_of(made, seeds), options.work / "runs", place_of(options))
    write_atomically(options.out, page(Found(found, seeds), made))


if __name__ == "__main__":
    sys.exit(main())

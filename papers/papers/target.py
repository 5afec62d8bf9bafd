"""PCC-RL's promise that its target is the operator's to tune: targets turned beside targets trained for.

    python -m papers.target [--train] [--student FILE] [--seeds N] [--where PLACE] [--jobs N] [--out FILE]

Turned: `congestion_gain_q28` of the student of recipes/rl-cc.toml, and the same of its teacher and of PCC-RL's LSTM.
Trained (with --train; what was trained is kept): RL-CC's MLP by its own recipe with another target, its feature scaled
by as much less, so that the network sees values of the same size. Moved: the other target written into the feature of
trained weights, as in tables 3 to 5.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from decision.artefact.output import write_atomically
from decision.ir.interfaces.flow_rate import TARGET_RATIO, flow_interface
from decision.policy.policy import Policy
from decision.policy.student import Student
from decision.policy.target import RATIOS
from netsim.policies import NativePolicy, PolicySpec, interpreted, native, turned
from netsim.simulation import DECISION_LATENCY_PS
from papers import contenders, theory
from papers.command import add_student, page_parser, run_sections, student_of, written
from papers.contenders import PAGES, ROOT, TEACHERS, Contender
from papers.found import Found
from papers.sections import DROPS, FAIRNESS, GOODPUT, QUEUE, Section, cell
from papers.theory import TARGET
from papers.traffic import TIMES, Traffic, named
from papers.trained import MLP as TRAINING
from papers.trained import Aim, trained
from rlcc.origin import made_by
from rlcc.reports.pages import listed, table, wrapped
from teachers.load import load
from teachers.teacher import Teacher

PAGE = PAGES / "target.md"
TRAINED_FOR = TARGET
TURNED = (0.25, 0.5, 1.0, 2.0, 4.0, 10.0, 16.0)
RETRAINED = (0.5, 2.0, 10.0)
"""PCC-RL's strict and loose over its standard target, and one between."""
WORDS = {0.5: "strict", 1.0: "standard", 10.0: "loose"}
TREE, MLP, LSTM = "tree, turned", "MLP, turned", "PCC-RL LSTM, turned"
MOVED, ANEW = "MLP, moved", "MLP, trained"
FLOWS = (64, 1024)
LESS = 0.01
Kinds = Sequence[tuple[str, Sequence[float]]]
CLOSE = 0.1
"""Of the queue's RTT inflation beside the fixed point's: what is called near."""


def label(kind: str, ratio: float) -> str:
    return f"{kind} x{ratio:g}"


def tunable(student: Student) -> Student:
    """The same trees, with the target as an operator's parameter."""
    options = {"interface": flow_interface((TARGET_RATIO,)).name, TARGET_RATIO: 1.0}
    return student.with_parts(observation=student.observation.model_copy(update=options))


def tunable_teacher(teacher: Teacher) -> NativePolicy:
    document = teacher.policy.model_dump(mode="json", exclude_none=True)
    document["observation"][TARGET_RATIO] = 1.0
    return native(Policy.model_validate(document), teacher.weights)


def who(student: Student, anew: Mapping[float, Teacher]) -> dict[str, Contender]:
    mlp, lstm = load(TEACHERS / "rl-cc-mlp"), load(TEACHERS / "pcc-rl-lstm")
    tree = interpreted(tunable(student))
    found: dict[str, PolicySpec] = {}
    for ratio in TURNED:
        found[label(TREE, ratio)] = turned(tree, ratio)
        found[label(MLP, ratio)] = turned(tunable_teacher(mlp), ratio)
        found[label(LSTM, ratio)] = turned(tunable_teacher(lstm), ratio)
        found[label(MOVED, ratio)] = contenders.retargeted(mlp, TRAINED_FOR * ratio, "rtt")
    for ratio, teacher in anew.items():
        found[label(ANEW, ratio)] = native(teacher.policy, teacher.weights)
    return {name: Contender(name, policy, DECISION_LATENCY_PS) for name, policy in found.items()}


def sections(anew: Sequence[float]) -> list[Section]:
    """``anew``: the ratios that were trained for."""
    kinds = [(kind, TURNED) for kind in (TREE, MLP)] + ([(ANEW, tuple(anew))] if anew else [])
    kinds += [(kind, TURNED) for kind in (MOVED, LSTM)]
    labels = tuple(label(kind, ratio) for kind, ratios in kinds for ratio in ratios)
    traffic = tuple(named(f"many-to-one:{n}", TIMES) for n in FLOWS)
    return [Section(f"{t.flows} to 1", labels, (t,), partial(_one, kinds=kinds, t=t)) for t in traffic]


def fixed_point(ratio: float, flows: int) -> float:
    """RTT inflation where max(inflation - beta, 0) sqrt(1 / flows) is the target."""
    return theory.fixed_point(flows, TRAINED_FOR * ratio)


def _near(f: Found, kind: str, ratios: Sequence[float], t: Traffic) -> list[float]:
    """At which ratios the mean RTT inflation is near the fixed point, and goodput not LESS below the trained one's."""
    trained_goodput = f.mean(label(MLP, 1.0), t, "goodput")

    def good(ratio: float) -> bool:
        who, aim = label(kind, ratio), fixed_point(ratio, t.flows)
        off = abs(f.mean(who, t, "rtt_inflation_mean") - aim) / aim
        return off <= CLOSE and f.mean(who, t, "goodput") >= trained_goodput - LESS

    return [ratio for ratio in ratios if good(ratio)]


def _one(f: Found, kinds: Kinds, t: Traffic) -> str:
    columns = (GOODPUT, QUEUE, FAIRNESS, DROPS)
    rows = []
    for kind, ratios in kinds:
        for ratio in ratios:
            name = label(kind, ratio)
            inflation = f.figure(name, t, "rtt_inflation_mean").text(2)
            aim = f"{fixed_point(ratio, t.flows):.2f}"
            rows.append([name, *(cell(f, name, t, c) for c in columns), inflation, aim])
    near = [f"{kind}: {_words(_near(f, kind, ratios, t))} of {len(ratios)}" for kind, ratios in kinds]
    heads = [f"{t.flows} to 1", *(c.heading for c in columns), "RTT inflation", "fixed point"]
    return f"""{table(heads, rows)}
Within {CLOSE:.0%} of the fixed point's RTT inflation, with a goodput at most {LESS:g} below the teacher's at its
trained target: {"; ".join(near)}.
"""


def _words(ratios: Sequence[float]) -> str:
    return f"{len(ratios)} ({listed([f'x{ratio:g}' for ratio in ratios])})" if ratios else "none"


def page(f: Found, made: Sequence[Section], anew: Sequence[float]) -> str:
    """The whole page."""
    listed_ratios = (
        f"{listed([f'{r:g}' for r in anew])} times {TRAINED_FOR:g}, with one seed each" if anew else "none yet"
    )
    head = f"""# PCC-RL's target as the operator's knob

{made_by("python -m papers.target")}

[PCCRL] section 8.2: "PCC-RL is controlled by a single parameter, target. By changing the target, the CC behavior in the
datacenter is adapted." It shows targets 1, 2 and 20 (strict, standard, loose) in its tables 3 to 5, without saying
whether the network was trained for each. Here `target_ratio = 1` in an observation makes the target a
[parameter](../../docs/reference/policy-toml.md#the-operators-target) of what is deployed; it is turned to
{RATIOS[0]:g} to {RATIOS[1]:g} times the trained one, of which {listed([f"{r:g} is {w}" for r, w in WORDS.items()])}.
Trained for the target, by `{TRAINING.relative_to(ROOT)}` with the feature's scale divided by as much (`--train`):
{listed_ratios}. Moved: the other target in the feature of weights that know {TRAINED_FOR:g}, as in
[tables 3 to 5](tables.md#pcc-rl-table-3-targets-8192-to-1). The tree runs as its integer program. Traffic of more
flows, all-to-all and long-short were not run here. Decisions take effect after 0.9 us; {TIMES.duration_ps // 10**9} ms,
of which {TIMES.window_ps[0] // 10**9} to {TIMES.window_ps[1] // 10**9} are measured.
Seeds {listed([f"{s}" for s in f.seeds])}, ± is the half-width of the 99 % confidence interval of the mean."""
    return wrapped("\n\n".join([head, *(f"## {section.title}\n{section.write(f)}" for section in made)]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = page_parser("target", "The operator's target.", "kept runs and trainings")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    parser.add_argument("--train", action="store_true", help="train for the targets that are not kept; minutes each")
    add_student(parser)
    return written(parser, arguments, _write)


def _write(options: argparse.Namespace) -> None:
    seeds = range(1, 1 + options.seeds)
    student = student_of(options)
    aims = {ratio: Aim(TRAINED_FOR * ratio) for ratio in RETRAINED}
    given = trained(tuple(aims.values()), options.work, options.train)
    anew = {ratio: given[aim] for ratio, aim in aims.items() if aim in given}
    made = sections(tuple(anew))
    runs = run_sections(made, who(student, anew), seeds, options)
    write_atomically(options.out, page(Found(runs, seeds), made, tuple(anew)))


if __name__ == "__main__":
    sys.exit(main())

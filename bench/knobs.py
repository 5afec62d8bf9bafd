"""Which change of a student brings a failing check of the gate nearer, counted over a grid of small students.

    python -m bench.knobs [--results FILE] [--limit N]

RL-CC's multilayer perceptron is distilled in short networks with combinations of KNOBS, and each student is set beside
its teacher there as the gate does it. If a student is beyond a limit, the students that differ from it by one step of
one knob show what that step changes. The counts are a page, docs/results/knobs.md, and a file that the gate reads,
rlcc/gate/knobs.toml.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median

from decision.artefact.output import write_atomically
from decision.policy.student import Student
from distill.distil import distil
from distill.driving import LATER_PS
from distill.options import DistillOptions, RolloutOptions
from distill.rollout import collect, teacher_policy
from netsim.deployment import Deployment
from netsim.policies import interpreted, native
from netsim.tolerance import DEFAULT
from rlcc.gate import closed_loop
from rlcc.gate.closed_loop import Entry
from rlcc.gate.fidelity import LATER, STUDENT, TEACHER, compare
from rlcc.gate.neighbourhood import furthest
from rlcc.gate.teacher_match import compare as compare_actions
from rlcc.gate.teacher_match import own_rollouts
from rlcc.origin import made_by
from rlcc.recipe import Match, Neighbourhood
from rlcc.reports.pages import table
from teachers.load import load
from teachers.teacher import Teacher

ROOT = Path(__file__).parents[1]
TEACHER_FOLDER = ROOT / "fixtures" / "teachers" / "rl-cc-mlp"
PAGE, DATA = ROOT / "docs" / "results" / "knobs.md", ROOT / "rlcc" / "gate" / "knobs.toml"

KNOBS: dict[str, tuple[float, ...]] = {
    "trees": (2, 5, 10),
    "depth": (2, 3, 4),
    "window": (1, 2, 3),
    "rounds": (0, 1, 4),
    "uniform_state_samples": (0.0, 0.2),
}
"""Of [distill], in steps; RL-CC's own students are within these. The last is turned at the teacher's window only."""
TEACHERS_WINDOW = 2

LEARNT = RolloutOptions.model_validate(
    {"scenarios": ["many-to-one:2", "many-to-one:8", "many-to-one:64", "many-to-one:512"], "duration": "20 ms"}
)
COMPARED = ("10 ms", "30 ms")
JUDGED, SEEDS = ["many-to-one:8", "many-to-one:64", "many-to-one:512"], [11, 12]
DURATION_PS, WINDOW_PS = 50 * 10**9, (20 * 10**9, 50 * 10**9)
LATENCY_PS = 279_000
"""Of a decision of RL-CC's ten trees of depth 4 on ibex-small."""

Setting = tuple[float, ...]
"""A value for each of KNOBS."""
Times = Mapping[str, float]
"""By kind of check: how many times its limit the student is off, in the network where that is most."""
NEARER = 0.9
"""A step counts where no more than that is left."""


class KnobBed:
    """Rollouts and references that all students share: made once."""

    def __init__(self) -> None:
        self.teacher: Teacher = load(TEACHER_FOLDER)
        self.runs = collect(teacher_policy(self.teacher), LEARNT)
        self.held_out = own_rollouts(self.teacher, JUDGED, Match(duration="20 ms"))  # type: ignore[arg-type]
        theirs = native(self.teacher.policy, self.teacher.weights)
        self.beside = self._driven([Entry(TEACHER, theirs, LATENCY_PS), Entry(LATER, theirs, LATENCY_PS + LATER_PS)])

    def judged(self, setting: Setting) -> dict[str, float]:
        """How far the student of this setting is off."""
        knobs = dict(zip(KNOBS, setting, strict=True))
        options = DistillOptions.model_validate({**knobs, "patience": 50, "comparison_window": COMPARED})
        return self._off(distil(self.teacher, self.runs, options, LEARNT, seed=1).student)

    def _off(self, student: Student) -> dict[str, float]:
        around, match, program = Neighbourhood(), Match(), student.program()
        off = compare_actions(program, student.observation, student.params(), self.teacher, self.held_out, "rollouts")
        own = self._driven([Entry(STUDENT, interpreted(student), LATENCY_PS)])
        outcomes = [one for runs in zip(self.beside[::2], own, self.beside[1::2], strict=True) for one in runs]
        times = {
            "action error, RMS": off.rmse / match.rmse,
            "action error, 99th percentile": off.p99 / match.p99,
            "action error, maximum": off.maximum / match.maximum,
            "outside": furthest(student, self.teacher, around).distance / around.limit,
        }
        for one in compare(outcomes, DEFAULT):
            times[one.name] = max(times.get(one.name, 0.0), one.metric.off(one.difference) / one.limit)
        return {name: round(value, 4) for name, value in times.items()}

    def _driven(self, entries: list[Entry]) -> list[closed_loop.PolicyMetrics]:
        return closed_loop.run(entries, closed_loop.GateNetworks(JUDGED, SEEDS, Deployment(), DURATION_PS, WINDOW_PS))


@dataclass(frozen=True)
class KnobStep:
    """One step of a knob, of students that are beyond a limit: in how many it brings them nearer, within, of how many;
    and how much of what they are off is left in the median."""

    nearer: int
    within: int
    of: int
    left: float


def settings() -> list[Setting]:
    """All that are judged."""
    place = list(KNOBS).index("window")
    return [each for each in product(*KNOBS.values()) if each[-1] == 0 or each[place] == TEACHERS_WINDOW]


def steps(students: Mapping[Setting, Times], kind: str) -> dict[str, KnobStep]:
    """Returns the steps by knob, those that leave least first."""
    made = {}
    for place, (knob, values) in enumerate(KNOBS.items()):
        pairs = []
        for setting, times in students.items():
            above = [value for value in values if value > setting[place]]
            step = (*setting[:place], *above[:1], *setting[place + 1 :])
            if above and step in students and times[kind] > 1:
                pairs.append((times[kind], students[step][kind]))
        if pairs:
            left = [after / before for before, after in pairs]
            nearer, within = sum(one <= NEARER for one in left), sum(after <= 1 for _, after in pairs)
            made[knob] = KnobStep(nearer, within, len(pairs), round(median(left), 2))
    return dict(sorted(made.items(), key=lambda item: item[1].left))


def page(students: Mapping[Setting, Times]) -> str:
    """As Markdown: a table a kind of check."""
    text = f"""# Which knob mends which check
{made_by("python -m bench.knobs")}

{len(students)} students of RL-CC's multilayer perceptron, of every combination of {_listed()}
(`uniform_state_samples` at a window of {TEACHERS_WINDOW} only),
distilled from 20 ms of {", ".join(LEARNT.scenarios)}; set beside
their teacher over 20 to 50 ms of {", ".join(JUDGED)}, seeds {SEEDS[0]} and {SEEDS[1]}, by the gate's default limits. A
row is one step of one knob, all else the same, of the students that are beyond the limit: in how many it takes at least
{1 - NEARER:.0%} of what they are off, in how many it ends within the limit, and what is left of it in the median (above
1: it makes it worse). Short networks and small students: most are far off, and one step seldom ends within.

"""
    for kind in next(iter(students.values())):
        rows = [
            [f"`{knob}`", f"{one.nearer} of {one.of}", str(one.within), f"{one.left:.2f}"]
            for knob, one in steps(students, kind).items()
        ]
        beyond = sum(times[kind] > 1 for times in students.values())
        text += f"## {kind}\n{beyond} students are beyond the limit.\n\n"
        text += table(["one step more of", "nearer", "within", "left"], rows) + "\n" if rows else ""
    return text.rstrip() + "\n"


def data(students: Mapping[Setting, Times]) -> str:
    """The same for the gate: of each kind of check the knobs, [nearer, of, left]."""
    lines = [
        "# Made by `python -m bench.knobs`: in how many students a step of a knob brought the check nearer, of how"
    ]
    lines.append("# many, and what was left in the median (docs/results/knobs.md). Do not edit it.")
    for kind in next(iter(students.values())):
        lines.append(f'\n["{kind}"]')
        lines += [f"{knob} = [{s.nearer}, {s.of}, {s.left}]" for knob, s in steps(students, kind).items()]
    return "\n".join(lines) + "\n"


def _listed() -> str:
    return ", ".join(f"`{knob}` {'/'.join(f'{value:g}' for value in values)}" for knob, values in KNOBS.items())


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge what is left, at most ``--limit``, and write page and data; 0."""
    parser = argparse.ArgumentParser(prog="python -m bench.knobs", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "knobs.jsonl", help="students judged so far")
    parser.add_argument("--limit", type=int, default=len(settings()), help="students to judge now, at most")
    asked = parser.parse_args(arguments)
    students = _read(asked.results)
    left = [setting for setting in settings() if setting not in students][: asked.limit]
    bed = KnobBed() if left else None
    for setting in left:
        assert bed is not None
        students[setting] = bed.judged(setting)
        asked.results.parent.mkdir(parents=True, exist_ok=True)
        with asked.results.open("a") as file:
            file.write(json.dumps([setting, students[setting]]) + "\n")
        print(setting, students[setting], flush=True)
    write_atomically(PAGE, page(students))
    write_atomically(DATA, data(students))
    return 0


def _read(results: Path) -> dict[Setting, dict[str, float]]:
    lines = results.read_text().splitlines() if results.is_file() else []
    return {tuple(setting): times for setting, times in map(json.loads, lines)}


if __name__ == "__main__":
    sys.exit(main())

"""ACC's comparison on its 288 hosts, beside the paper's: teacher and tree, static settings, HPCC.

    rlcc run recipes/acc.toml
    python -m papers.acc [fabric|messages|change|courses|idle ..] [--run runs/acc] [--seeds N]

Flow completion times by size; the marking settings of the paper's section 2 (SECN0 of DCTCP, SECN1 of DCQCN, SECN2 of
HPCC) stay as they are under the same DCQCN senders. The tree's C decides as late as it takes on the engine.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from decision.artefact.documents import load_toml
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from netsim.network import US
from netsim.policies import PolicySpec, fixed, native
from netsim.result_store import Kept
from papers import acc_bed, acc_change, acc_courses, acc_fabric, acc_idle, contenders
from papers.acc_bed import Deciders
from papers.command import store
from papers.runs import say
from rlcc.commands.run_location import add_options, place_of
from rlcc.evaluation.contenders import emulated_latency_ps
from rlcc.policies import by_path
from rlcc.recipe import deployment_of, load_recipe
from teachers.ddqn_options import DdqnConfig
from teachers.load import load
from teachers.networks import seeded
from teachers.teacher import Teacher, make_teacher

RECIPE = contenders.ROOT / "recipes" / "acc.toml"
TRAINING = contenders.ROOT / "recipes" / "train-acc.toml"
ONLINE = contenders.ROOT / "recipes" / "train-acc-online.toml"
PAGES = {
    "fabric": "acc.md",
    "messages": "acc-messages.md",
    "change": "acc-change.md",
    "courses": "acc-courses.md",
    "idle": "acc-idle.md",
}
TEACHER_LATENCY_PS = 10 * US
STATIC = {"SECN0": (18_000, 18_000, 100), "SECN1": (5_000, 200_000, 1), "SECN2": (100_000, 400_000, 1)}
"""Kmin, Kmax in bytes ([ACC] section 2); of Pmax, in %, the paper says nothing: DCQCN's 1 %."""


@contextmanager
def at_queues(run: Path) -> Iterator[Deciders]:
    """Who decides at the queues, and how late: the teacher, its student's C as it is on the engine, what stays."""
    teacher = load(contenders.TEACHERS / "acc")
    with by_path(run / "firmware") as tree:
        latency_ps = emulated_latency_ps(run / "firmware", contenders.ENGINE)
        yield {
            "ACC": (native(teacher.policy, teacher.weights), TEACHER_LATENCY_PS),
            "ACC tree": (tree.policy, latency_ps),  # type: ignore[dict-item]  # no baseline decides at queues
            **{name: (setting(*knobs), 0) for name, knobs in STATIC.items()},
        }


def learners(config: DdqnConfig) -> tuple[Teacher, Teacher, DdqnConfig]:
    """The trained teacher, one with the weights that training began with, and how both learn."""
    teacher = load(contenders.TEACHERS / "acc")
    weights = seeded(teacher.policy, config.ddqn.seed).weights()
    return teacher, make_teacher(teacher.policy, weights, "not trained"), config


def setting(kmin: int, kmax: int, percent: int) -> PolicySpec:
    return fixed(QUEUE_MARKING, {"kmin_bytes": kmin, "kmax_bytes": kmax, "pmax_q16": round(percent * 655.36)})


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m papers.acc", description="ACC's comparison beside ours.")
    parser.add_argument("pages", nargs="*", choices=[[], *PAGES], metavar="|".join(PAGES), help="by default all")
    parser.add_argument("--run", type=Path, default=Path("runs/acc"), help="what rlcc run recipes/acc.toml wrote")
    parser.add_argument("--seeds", type=int, choices=range(1, 100), metavar="N", default=3)
    add_options(parser)
    parser.add_argument("--docs", type=Path, default=contenders.PAGES, help="where the pages go")
    parser.add_argument("--work", type=Path, default=contenders.ROOT / "build" / "papers", help="kept runs")
    options = parser.parse_args(arguments)
    try:
        seeds, where, keep = range(1, options.seeds + 1), place_of(options), Kept(options.work / "runs")
        deployment = deployment_of(load_recipe(RECIPE), RECIPE)
        with at_queues(options.run) as deciders:
            for name in options.pages or PAGES:
                if name == "fabric":
                    text = acc_fabric.page(acc_fabric.played(deployment, deciders, seeds, where, keep))
                elif name == "messages":
                    text = acc_bed.page(acc_bed.played(deployment, deciders, seeds, where, keep, say), options.seeds)
                elif name == "courses":
                    steps, fallen = acc_courses.played(deployment, deciders, seeds, options.work / "courses", say)
                    text = acc_courses.page(steps, fallen)
                    for number, picture in ((6, acc_courses.picture_6(steps)), (15, acc_courses.picture_15(fallen))):
                        store(options.docs / "figures" / f"acc-figure-{number}.svg", picture)
                elif name == "idle":
                    config = load_toml(DdqnConfig, TRAINING)
                    idled = acc_idle.played(deployment, deciders, config, seeds, where, keep, say)
                    text = acc_idle.page(idled, options.seeds)
                else:
                    config = load_toml(DdqnConfig, ONLINE)
                    kept = options.work / "changes"
                    changed = acc_change.played(deployment, deciders, *learners(config), seeds, kept, say)
                    text = acc_change.page(changed, options.seeds, config)
                    store(options.docs / "figures" / "acc-figure-16.svg", acc_change.picture(changed))
                write_atomically(options.docs / PAGES[name], text)
    except InputError as error:
        print(f"papers: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A search from its first point to the proved front: quick judgements for the greater part of the time, then the best
points made whole, best layer first. It may be interrupted anywhere, and goes on where it was."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened as opened_artefact
from decision.artefact.manifest import sha256
from decision.artefact.output import write_atomically
from decision.artefact.sources import package_hash
from distill import rollout
from netsim.build import simulator_hash
from netsim.deployment import Deployment
from rlcc import stages
from rlcc.commands.console import stage
from rlcc.recipe import Recipe, deployment_of, load_recipe, teacher_path
from rlcc.search import page
from rlcc.search.full_run import WholeEvaluation, made
from rlcc.search.options import SearchOptions
from rlcc.search.pareto import layers
from rlcc.search.quick_judge import Quick, QuickJudge, metrics_store
from rlcc.search.recipe_text import moved, recipe_text
from rlcc.search.space import Point, SearchSpace
from rlcc.search.study import ReportedPoint, Study, opened
from teachers.load import load
from teachers.teacher import Teacher

QUICK_SHARE = 0.6
"""Of the time there is, where some of it is for the front."""
SOURCES = ("decision", "distill", "codegen", "rlcc/search/quick_judge.py", "rlcc/search/full_run.py")
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class SearchRun:
    """A recipe that is searched, and where. ``options``: those of the recipe, or others in their place."""

    path: Path
    recipe: Recipe
    options: SearchOptions
    space: SearchSpace
    teacher: Teacher
    deployment: Deployment
    folder: Path

    @staticmethod
    def of(path: Path, folder: Path | None, **others: int | None) -> "SearchRun":
        """InputError where the recipe, its teacher or its space is not right."""
        recipe = load_recipe(path)
        options = recipe.search.model_copy(update={name: n for name, n in others.items() if n is not None})
        teacher, deployment = load(teacher_path(recipe, path)), deployment_of(recipe, path)
        recipe.emulate.toolchain()
        place = folder or Path("runs") / recipe.name / "search"
        return SearchRun(path, recipe, options, SearchSpace.of(path, recipe), teacher, deployment, place)

    def name(self, number: int) -> str:
        """Returns the name of a point's recipe, and so of the folder of its run."""
        return f"{self.recipe.name[:48]}-point-{number}"

    def text(self, reported: ReportedPoint, folder: Path) -> str:
        """The recipe of a point, to lie in ``folder``."""
        document = moved(self.space.said(reported.point), self.path.parent, folder) | {
            "name": self.name(reported.number)
        }
        return recipe_text(document, f"Point {reported.number} of a search from {self.path.name}.")

    def subject(self) -> str:
        """A hash of all that the figures of a point depend on, and of what proposes points."""
        options = self.options.model_dump(mode="json", exclude={"points", "front", "space"})
        recipe = self.recipe.model_dump(mode="json", exclude={"search", "name"}, by_alias=True)
        sources = package_hash(*(ROOT / name for name in SOURCES))
        of = [recipe, options, self.space.to_json(), self.teacher.hash, simulator_hash(), sources]
        return sha256(dump_json(of).encode())


def run(search: SearchRun, minutes: float | None) -> list[ReportedPoint]:
    """Go on with the search until it has its points and its front, or the time is over; all points."""
    begin = time.monotonic()
    end = None if minutes is None else begin + 60 * minutes
    turn = end if end is None or search.options.front == 0 else begin + QUICK_SHARE * (end - begin)
    with opened(search.folder, search.space, search.options, search.subject()) as study:
        try:
            rollouts = _rollouts(search)
            judge = _judge(search, rollouts)
            _explore(search, study, judge, turn)
            _prove(search, study, judge, rollouts, end)
        finally:
            if points := study.reported():
                page.write(search.folder, search.recipe.name, search.space, points)
        return study.reported()


def point_of(search: SearchRun, number: int) -> ReportedPoint:
    """A point of a search that was made before; InputError where there is none of that number."""
    if not (search.folder / "journal.log").is_file():
        raise InputError(f"{search.folder} holds no search; run rlcc search {search.path} first, or give its --out")
    with opened(search.folder, search.space, search.options, search.subject()) as study:
        points = {one.number: one for one in study.reported()}
    if number not in points:
        raise InputError(
            f"{search.folder} has no point {number}; it has {len(points)}, from 0 to {max(points, default=0)}"
        )
    if points[number].quick is None:
        raise InputError(f"point {number} of {search.folder} is no recipe that runs: {points[number].reason}")
    return points[number]


def _rollouts(search: SearchRun) -> Path:
    """Made once; a folder that is damaged is made again."""
    folder = search.folder / "rollouts"
    try:
        opened_artefact(folder, rollout.KIND)
    except InputError:
        with stage("rollout") as (figures, progress):
            stages.rollout(search.teacher, search.recipe.rollout, folder, figures, progress, search.deployment)
    return folder


def _judge(search: SearchRun, rollouts: Path) -> QuickJudge:
    runs = list(rollout.read(rollouts, search.teacher, search.deployment))
    return QuickJudge(search.teacher, runs, search.deployment, search.options, metrics_store(search.folder / "kept"))


def _explore(search: SearchRun, study: Study, judge: QuickJudge, turn: float | None) -> None:
    most = search.options.points
    with stage("search") as (figures, progress):

        def quick(number: int, point: Point, others: Mapping[int, Quick]) -> Quick:
            def say(text: str) -> None:
                progress(f"point {number} of {most}: {text}")

            return judge.quick(search.space.recipe(point), others, say)

        study.explore(quick, lambda there: there < most and (turn is None or time.monotonic() < turn))
        points = study.reported()
        best, quicks = page.predicted_front(points), [one.quick for one in points if one.quick is not None]
        noise = judge.noise(search.recipe) if points else 0.0
        figures |= {
            "points": f"{len(points)} of {most}",
            "dominated": f"{sum(one.outdone is not None for one in quicks)} before simulation",
            "over a limit": str(sum(bool(one.broken) for one in quicks)),
            "impossible": str(len(points) - len(quicks)),
            "front": f"{len(best)} predicted",
            "teacher noise": f"{noise:.2f} times the tolerance",
        }


def chosen(points: Sequence[ReportedPoint], own: Point, most: int) -> list[ReportedPoint]:
    """The points to make whole: the recipe's own, then layer by layer of the quick figures, in each the least product
    of both first. Points with all quick figures alike are one student by several names, and made once."""
    by_number = {one.number: one for one in points if one.allowed}
    first = [one for one in by_number.values() if dict(one.point) == dict(own)][:1]
    order = [
        by_number[number]
        for layer in layers({number: one.predicted for number, one in by_number.items()})
        for number in sorted(layer, key=lambda n: (by_number[n].predicted[0] * by_number[n].predicted[1], n))
    ]
    distinct = {dump_json(one.quick.to_json()): one for one in [*first, *order][::-1] if one.quick}
    return sorted(distinct.values(), key=[*first, *order].index)[:most]


def _prove(search: SearchRun, study: Study, judge: QuickJudge, rollouts: Path, end: float | None) -> None:
    to_make = chosen(study.reported(), search.space.own, search.options.front)
    with stage("front") as (figures, progress):
        for place, one in enumerate(to_make, 1):
            if one.whole is not None:
                continue
            if end is not None and time.monotonic() >= end:
                break

            def say(text: str, place: int = place, number: int = one.number) -> None:
                progress(f"{place} of {len(to_make)}, point {number}: {text}")

            study.keep(one.number, _whole(search, one, judge, rollouts, say))
        points = study.reported()
        figures |= {
            "points": f"{sum(one.whole is not None for one in points)} built and judged",
            "front": str(len(page.made_front(points))),
            "page": str(search.folder / page.PAGE),
        }


def _whole(
    search: SearchRun, one: ReportedPoint, judge: QuickJudge, rollouts: Path, progress: Callable[[str], None]
) -> WholeEvaluation:
    folder = search.folder / "points" / str(one.number)
    recipe = search.space.recipe(one.point)
    try:
        whole = made(recipe, search.teacher, rollouts, folder, search.deployment, judge.keep, progress)
    except InputError as error:
        return WholeEvaluation("", None, False, None, None, None, None, None, "", str(error))
    write_atomically(folder / "recipe.toml", search.text(one, folder))
    return whole

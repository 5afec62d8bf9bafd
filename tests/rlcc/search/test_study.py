"""The journal of a search: whatever interrupts it, the points are those of a search that nothing interrupted."""

import json
from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from rlcc.recipe import load_recipe
from rlcc.search.options import SearchOptions
from rlcc.search.quick_judge import Price, Quick
from rlcc.search.space import SearchSpace
from rlcc.search.study import JOURNAL, opened

TEXT = """\
format = 1
name = "mine"
teacher = "teacher"
[rollout]
scenarios = ["many-to-one:2"]
[gate]
budget = "1 us"
[search.space]
"emit.form" = ["auto", "branches"]
"""
POINTS = 14
SAMPLERS = {"tpe": SearchOptions(population=4), "nsga2": SearchOptions(sampler="nsga2", population=4)}


@pytest.fixture
def space(tmp_path: Path) -> SearchSpace:
    (tmp_path / "mine.toml").write_text(TEXT)
    return SearchSpace.of(tmp_path / "mine.toml", load_recipe(tmp_path / "mine.toml"))


def judged(number, point, others) -> Quick:
    """Figures that depend on the point alone: large trees cost, small ones are far off; some are impossible, some over
    a limit, some outdone by the first."""
    trees, depth = point["distill.trees"], point["distill.depth"]
    if point["distill.window"] == 3 and depth == 2:
        raise InputError("no such student")
    table = trees << depth
    price = Price(50.0 + 4 * trees + depth, 12, table, 400)
    if trees == 20:
        return Quick(price, price.cycles, 0.1, outdone=0)
    broken = {"table": table / 256 - 1} if table > 256 else {}
    return Quick(price, price.cycles, 0.1, None if broken else 10 / (trees * depth), "", 0.0, 0.1, broken)


def search(
    folder: Path, space: SearchSpace, options: SearchOptions, judge=judged, points: int = POINTS
) -> list[object]:
    with opened(folder, space, options, "this") as study:
        study.explore(judge, lambda there: there < points)
        return [(one.number, one.point, one.quick, one.reason) for one in study.reported()]


class Killed(BaseException):
    pass


@pytest.mark.parametrize("sampler", list(SAMPLERS))
def test_interrupted_anywhere_and_resumed_it_has_the_points_of_one_that_was_not(tmp_path, space, sampler):
    options = SAMPLERS[sampler]
    straight = search(tmp_path / "straight", space, options)
    assert len(straight) == POINTS
    assert len({json.dumps(point, sort_keys=True) for _, point, _, _ in straight}) > POINTS // 2

    def killing(at):
        def judge(number, point, others):
            if number == at:
                raise Killed
            return judged(number, point, others)

        return judge

    for at in (0, 1, 5, 9):
        with pytest.raises(Killed):
            search(tmp_path / "resumed", space, options, killing(at))
    assert search(tmp_path / "resumed", space, options) == straight


def test_a_journal_cut_off_at_any_byte_goes_on_to_the_same_points(tmp_path, space):
    """What a kill in the middle of a write leaves: whole lines, and a part of one."""
    options = SAMPLERS["tpe"]
    straight = search(tmp_path / "straight", space, options, points=7)
    journal = (tmp_path / "straight" / JOURNAL).read_bytes()
    after_first = journal.index(b"\n", len(journal) // 8) + 1
    for at in range(after_first, len(journal), max(1, len(journal) // 7)):
        folder = tmp_path / f"cut-{at}"
        folder.mkdir()
        (folder / JOURNAL).write_bytes(journal[:at])
        (folder / f"{JOURNAL}.lock").symlink_to(JOURNAL)
        assert search(folder, space, options, points=7) == straight


def test_the_recipe_itself_comes_first(tmp_path, space):
    (first, *_) = search(tmp_path / "s", space, SAMPLERS["tpe"], points=2)
    assert first[1] == space.own


def test_another_seed_proposes_other_points(tmp_path, space):
    one, other = (search(tmp_path / str(n), space, SearchOptions(seed=n, population=4), points=5) for n in (1, 2))
    assert one[0] == other[0]
    assert one[1:] != other[1:]


@pytest.mark.parametrize("sampler", list(SAMPLERS))
def test_optuna_is_told_which_points_break_a_limit(tmp_path, space, sampler):
    """They have the best figures of all here, and are none of its best."""

    def unfair(number, point, others):
        fair = number % 3 > 0
        price = Price(100.0 + number if fair else 1.0, 12, 64, 400)
        return Quick(price, 100.0, 0.1, 1.0 if fair else 0.0, "", 0.5, 0.1, {} if fair else {"fairness": 4.0})

    with opened(tmp_path / "s", space, SAMPLERS[sampler], "this") as study:
        study.explore(unfair, lambda there: there < 9)
        assert [trial.number for trial in study._study.best_trials] == [1]
        assert [one.number for one in study.reported() if not one.allowed] == [0, 3, 6]


def test_a_point_that_is_proposed_again_is_not_judged_again(tmp_path, space):
    seen = []

    def judge(number, point, others):
        seen.append(json.dumps(point, sort_keys=True))
        return judged(number, point, others)

    search(tmp_path / "s", space, SAMPLERS["nsga2"], judge, points=18)
    assert len(seen) == len(set(seen))


def test_a_journal_of_something_else_is_refused(tmp_path, space):
    search(tmp_path / "s", space, SAMPLERS["tpe"], points=1)
    with (
        pytest.raises(InputError, match="of another recipe"),
        opened(tmp_path / "s", space, SAMPLERS["tpe"], "that"),
    ):
        pass


@pytest.mark.parametrize("line", [b"not json\n", b'{"op_code": 99}\n', b"[]\n", b'"text"\n', b"\xff\xfe\n"])
def test_a_damaged_journal_is_refused_in_a_sentence(tmp_path, space, line):
    search(tmp_path / "s", space, SAMPLERS["tpe"], points=1)
    path = tmp_path / "s" / JOURNAL
    path.write_bytes(line + path.read_bytes())
    with pytest.raises(InputError) as error, opened(tmp_path / "s", space, SAMPLERS["tpe"], "this"):
        pass
    assert str(path) in str(error.value)
    assert "start anew" in str(error.value)


def test_two_at_once_are_refused(tmp_path, space):
    place = (tmp_path / "s", space, SAMPLERS["tpe"], "this")
    with opened(*place), pytest.raises(InputError, match=r"rlcc search .*work"), opened(*place):
        pass

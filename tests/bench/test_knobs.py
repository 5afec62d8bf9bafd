"""Which knob mends which check: how the students of the grid are counted."""

import tomllib

from bench.knobs import KNOBS, KnobStep, Setting, data, page, settings, steps


def setting(**values: float) -> Setting:
    usual = {"trees": 2, "depth": 2, "window": 2, "rounds": 0, "uniform_state_samples": 0.0}
    return tuple((usual | values)[knob] for knob in KNOBS)


def test_a_step_is_counted_of_students_beyond_the_limit_beside_the_same_with_one_knob_turned() -> None:
    students = {
        setting(): {"loss": 4.0},
        setting(trees=5): {"loss": 0.5},  # within: no row of its own
        setting(depth=3): {"loss": 8.0},
        setting(depth=3, trees=5): {"loss": 2.0},
    }
    assert steps(students, "loss") == {
        "trees": KnobStep(nearer=2, within=1, of=2, left=0.19),
        "depth": KnobStep(nearer=0, within=0, of=1, left=2.0),
    }
    assert tomllib.loads(data(students)) == {"loss": {"trees": [2, 2, 0.19], "depth": [0, 1, 2.0]}}
    assert "| `trees`" in page(students)


def test_all_combinations_are_judged_and_anywhere_at_the_teachers_window() -> None:
    assert len(settings()) == 81 + 27

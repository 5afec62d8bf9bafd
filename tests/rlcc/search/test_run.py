"""Which points a search makes whole, and in which order."""

from rlcc.search.quick_judge import Price, Quick
from rlcc.search.run import chosen
from rlcc.search.study import ReportedPoint

OWN = {"distill.trees": 10}


def told(number: int, trees: int, cycles: float, error: float | None, rmse: float = 0.0) -> ReportedPoint:
    quick = Quick(Price(cycles, 12, 1024, 1024), cycles, 1.0, error, rmse=rmse)
    return ReportedPoint(number, {"distill.trees": trees}, quick)


def numbers(points: list[ReportedPoint], most: int = 9) -> list[int]:
    return [one.number for one in chosen(points, OWN, most)]


def test_the_recipe_itself_comes_first_then_layer_by_layer_the_least_product() -> None:
    points = [told(0, 10, 120, 3), told(1, 4, 90, 2), told(2, 5, 100, 1), told(3, 6, 110, 2), told(4, 7, 100, 3)]
    assert numbers(points) == [0, 2, 1, 3, 4]
    assert numbers(points, 2) == [0, 2]


def test_a_point_without_its_figures_is_not_made() -> None:
    outside = ReportedPoint(2, {"distill.trees": 4}, Quick(Price(80, 12, 1, 1), 80, 1.0, 0.1, broken={"table": 0.5}))
    assert numbers([told(0, 10, 120, 3), told(1, 4, 90, None), outside, ReportedPoint(3, {}, None, "impossible")]) == [
        0
    ]


def test_one_student_by_two_names_is_made_once_but_not_another_that_is_as_good() -> None:
    points = [told(0, 10, 120, 3), told(1, 4, 90, 2), told(2, 5, 90, 2), told(3, 6, 90, 2, rmse=0.5)]
    assert numbers(points) == [0, 1, 3]
    assert numbers([told(0, 5, 90, 2), told(1, 10, 90, 2)]) == [1]

"""What AuTO's decisions cost, from cycles and from certificates."""

from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from papers.auto_cost import PAPER_LONG, Taken, beside_metis, costs, growth, own_network, taken, written
from papers.int8_cost import Int8

TREE = Taken("clang", 0.25, 9712, 0, 320, mean=330.0, slowest=660.0, proved=None, clock_mhz=330.0)


def test_the_c_of_both_halves_by_compiler() -> None:
    proved = Taken("gcc", 0.5, 4000, 16, 60, mean=400.4, slowest=473.0, proved=490, clock_mhz=330.0, bound=487)
    assert written({"sRLA": [proved], "lRLA": [TREE]}) == [
        "| sRLA | gcc | 0.50 | 4,000 | 16 | 60 | 400 | 473 | 487 | 490 |",
        "| lRLA | clang | 0.25 | 9,712 | 0 | 320 | 330 | 660 |  |  |",
    ]


def test_a_tree_is_set_beside_its_own_network_and_the_papers() -> None:
    assert costs(TREE, Int8(256, 2860.0, 2904, 330.0, 2428), PAPER_LONG) == [
        "| the tree | 330 | 660 | 2.00 | 1.0 | 9,712 | 1.0 |",
        "| its teacher in int8, 256 multiply-adds | 2,860 | 2,904 | 8.80 | 4.4 | 2,428 | 0.2 |",
        "| the paper's network in int8, 861,600 multiply-adds | 9,994,560 | 9,994,560 | 30,286.55 | 15,143.3 | 861,600 "
        "| 88.7 |",
    ]


def test_where_metis_is_not_reached_it_is_told() -> None:
    assert beside_metis("lRLA", TREE, Int8(256, 2860.0, 2904, 330.0, 2428), PAPER_LONG) == (
        "lRLA's tree decides 4.4 times as fast as its own teacher in int8 (**not** 27) with 4.0 times its bytes; "
        "15,143 times as fast as the paper's network in int8 (over 27), which has 89 times its bytes, in float32 355 "
        "(over 156)."
    )


def test_a_network_that_sets_levels_is_reckoned() -> None:
    assert own_network("auto-srla", Path("no run is read")).multiply_adds == 14 * 32 + 32 * 32 + 32 * 3


def test_a_call_a_flow_beside_one_pass_of_a_network_that_grows() -> None:
    first, *_, last = growth(TREE)
    assert first.startswith("| 11, 10 | 0.011 | 0.022 |")
    assert last.startswith("| 1,000, 1,000 | 1.000 | 2.000 |")
    assert last.endswith("| 81.82 |")


def test_a_folder_without_firmware_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="firmware"):
        taken(tmp_path)

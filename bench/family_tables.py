"""Tables of a suite's cells by family: how policies stand against baselines, and which of them to take.

A tally counts pairs of a cell and a baseline: won / level / mixed / lost. Advice names for each family the policy that
loses fewest pairs in cells that may be tuned on, then wins most. Held-out cells choose nothing.
"""

from collections.abc import Mapping, Sequence

from rlcc.evaluation.grid import Cell
from rlcc.evaluation.standing import STANDINGS
from rlcc.evaluation.standing_page import JudgedCell
from rlcc.reports.pages import NONE, table

FAMILIES = {
    "collectives, a new queue pair a message": ("ring", "tree", "exchange", "parameter-server"),
    "collectives, queue pairs that last": (),
    "open loops": ("websearch", "hadoop", "datamining", "storage"),
    "floods": ("incast", "long-short"),
    "long flows, a BDP below 100 KB": ("many-to-one",),
    "long flows, a BDP above": (),
}
"""Beginnings of the traffic's names. Queue pairs that last are recognised by an ending, a BDP by the network."""


def family(cell: Cell) -> str:
    """Returns the family of a cell by the name of its traffic and its network's BDP."""
    if ":one-qp" in cell.scenario:
        return "collectives, queue pairs that last"
    name = next(name for name, begins in FAMILIES.items() if cell.scenario.startswith(begins))
    bdp_bytes = cell.network.link_gbps * cell.network.base_rtt_ps // 8000
    return "long flows, a BDP above" if name.startswith("long flows") and bdp_bytes >= 100_000 else name


def by_name(cells: Sequence[Cell]) -> Mapping[str, list[str]]:
    """Returns the names of the cells of each family that has any."""
    grouped = {key: [cell.name for cell in cells if family(cell) == key] for key in FAMILIES}
    return {key: names for key, names in grouped.items() if names}


def tally(judged: JudgedCell, names: Sequence[str]) -> tuple[int, ...]:
    """Returns how many pairs of a cell and a baseline are won, level, mixed and lost."""
    stood = [one.standing for name in names for one in judged.comparisons[name].values()]
    return tuple(stood.count(standing) for standing in STANDINGS)


def tally_text(judged: JudgedCell, names: Sequence[str]) -> str:
    """Returns `12 / 30 / 4 / 2`."""
    return " / ".join(map(str, tally(judged, names)))


def best(judged: Sequence[JudgedCell], names: Sequence[str]) -> list[JudgedCell]:
    """Returns the policies that lose fewest pairs in these cells, and of those the ones that win most."""

    def standing(each: JudgedCell) -> tuple[int, int]:
        won, *_, lost = tally(each, names)
        return lost, -won

    least = min(map(standing, judged))
    return [each for each in judged if standing(each) == least]


def stronger(judged: JudgedCell, names: Sequence[str]) -> list[str]:
    """Returns the baselines that win more of these cells against a policy than they lose."""
    balance: dict[str, int] = {}
    for name in names:
        for baseline, one in judged.comparisons[name].items():
            balance[baseline] = balance.get(baseline, 0) + (one.standing == "loss") - (one.standing == "win")
    return [baseline for baseline, more in balance.items() if more > 0]


def advice(judged: Sequence[JudgedCell], cells: Sequence[Cell]) -> str:
    """Returns the table of the policy to take for each family that has cells to tune on."""
    rows = []
    for key, names in by_name(cells).items():
        held_out = [cell.name for cell in cells if cell.held_out and cell.name in names]
        tuning = [name for name in names if name not in held_out]
        if tuning:
            taken = best(judged, tuning)
            shown = ["; ".join(tally_text(each, part) for each in taken) for part in (tuning, held_out)]
            beaten_by = [", ".join(stronger(each, names)) or NONE for each in taken]
            rows.append([key, " or ".join(each.label for each in taken), *shown, "; ".join(beaten_by)])
    return table(["traffic", "take", "tuning cells", "held-out cells", "stronger baselines"], rows)


def by_family(judged: Sequence[JudgedCell], cells: Sequence[Cell]) -> str:
    """Returns the table of families in some of the cells."""
    rows = [
        [f"{key} ({len(names)})", *(tally_text(each, names) for each in judged)]
        for key, names in by_name(cells).items()
    ]
    rows.append(["all", *(tally_text(each, [cell.name for cell in cells]) for each in judged)])
    return table(["cells", *(each.label for each in judged)], rows)


def by_baseline(judged: Sequence[JudgedCell], cells: Sequence[Cell], against: Sequence[str]) -> str:
    """Returns the table of baselines in some of the cells."""
    names = [cell.name for cell in cells]
    rows = [[name, *(" / ".join(map(str, each.tally(name, names).values())) for each in judged)] for name in against]
    return table(["baseline", *(each.label for each in judged)], rows)


def lost(judged: Sequence[JudgedCell], cells: Sequence[Cell]) -> str:
    """Returns the table of cells that one of the policies loses, with the baselines that win them."""
    rows = []
    for name in (cell.name for cell in cells):
        losers = [
            ", ".join(by for by, one in each.comparisons[name].items() if one.standing == "loss") for each in judged
        ]
        if any(losers):
            rows.append([f"`{name}`", *(text or NONE for text in losers)])
    return table(["cell", *(each.label for each in judged)], rows) if rows else "None.\n"

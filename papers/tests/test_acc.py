"""ACC's pages say what the runs said."""

from math import nan

import numpy as np
import pytest

from decision.artefact.documents import load_toml
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.policy.records import record_columns
from netsim.result_store import Outcome
from netsim.samples import Samples
from papers import acc, acc_bed, acc_change, acc_fabric, acc_idle
from papers.acc_bed import Bed
from papers.acc_change import FLOWS, PHASES, SLICES, Changed
from teachers.ddqn_options import DdqnConfig


def outcome(queue_bytes: float, slower: float) -> Outcome:
    """A queue of so many bytes throughout, and of each size messages that take 1 to 3 times so much longer."""
    sizes = np.repeat(acc_bed.SIZES, 3)
    empty = np.zeros(0, np.float32)
    times = np.linspace(0, acc_bed.DURATION_PS * 1e-6, 50, dtype=np.float32)
    return Outcome(
        1,
        {"goodput": 0.5 / slower},
        samples=Samples(
            t_us=times,
            queue_bytes=np.full(50, queue_bytes, np.float32),
            flow_gbps=empty,
            mean_gbps=empty,
            dropped=np.zeros(0, np.int32),
            completed_bytes=sizes,
            completed_slowdown=(slower * np.tile([1, 2, 3], len(acc_bed.SIZES))).astype(np.float32),
        ),
    )


def test_messages_are_set_beside_acc_and_the_paper() -> None:
    of = {"ACC": (10e3, 1.0), "SECN1": (30e3, 2.0), "SECN2": (60e3, 4.0)}
    bed = Bed({(who, load): [outcome(*each)] * 3 for who, each in of.items() for load in acc_bed.LOADS})
    text = acc_bed.page(bed, 3)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "|" in line]
    assert ["SECN1", "30.0", "0.0", "20.4 (49.6)", "3.00 (3.00 to 3.00)", "3.64", "6.25"] in rows  # of 25 Gb/s, at 60 %
    assert ["SECN2", "60.0", "0.0", "-", "6.00 (6.00 to 6.00)", "-", "3.12"] in rows  # at 20 %
    slowdowns = ["4.00", "5.96", "6.00", *["2.00 (2.00 to 2.00)"] * 3]  # of 2, 4 and 6: mean, p99 and p99.9
    assert sum(row == [f"{size}, SECN1", *slowdowns] for row in rows for size in acc_bed.NAMES) == 10


def test_the_fabric_is_set_beside_the_paper_load_by_load() -> None:
    slower = {"ACC": 1.0, "ACC tree": 1.0, "SECN0": 2.0, "SECN1": 1.25, "SECN2": 2.0, "HPCC": 0.5}
    metrics = {
        (who, load): [dict.fromkeys((*acc_fabric.SHOWN, "completions"), factor * (place + 1)) for _ in range(3)]
        for who, factor in slower.items()
        for place, load in enumerate(acc_fabric.WINDOWS_PS)
    }
    for each in metrics["SECN0", acc_fabric.DATA_MINING[0]]:
        each["elephants_fct_mean_us"] = nan
    lines = acc_fabric.page(acc_fabric.Outcomes(3, metrics)).splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
    assert ["SECN1", "FCT mean us", "-5.8", *["-20.0 (-20.0 to -20.0)"] * 4] in rows
    assert ["SECN2", "elephants mean", "-4.4", *["-50.0 (-50.0 to -50.0)"] * 4] in rows
    assert [acc_fabric.LOADS[2], "HPCC", *["+100.0 (+100.0 to +100.0)"] * 4] in rows
    assert [acc_fabric.DATA_MINING[0], "ACC", *["+0.0 (+0.0 to +0.0)"] * 4] in rows
    assert any("Of 14 flows" in line and "25.000% ended" in line for line in lines)
    first = lines.index(f"## {acc_fabric.DATA_MINING[0]}")
    shown = next(line for line in lines[first:] if line.startswith("| SECN0"))
    assert [cell.strip() for cell in shown.split("|")[8:10]] == ["-", "10.0"]


@pytest.mark.parametrize(
    ("cut", "followed", "says"),
    [
        (1.25, 1.25, "reproduced (-20.0 %, all followed -20.0 %; the paper -5.8)"),
        (1.25, 1.04, "there, and smaller (-20.0 %, all followed -3.8 %; the paper -5.8)"),
        (1.25, 0.8, "**not reproduced** (-20.0 %, all followed +25.0 %; the paper -5.8)"),
    ],
)
def test_whether_the_papers_gain_is_there_is_said(cut: float, followed: float, says: str) -> None:
    metrics = {
        (who, load): [{"fct_mean_us": (1.0 if who == "ACC" else factor) * seed} for seed in (1, 2)]
        for who in ("ACC", "SECN1", "SECN2")
        for load, factor in ((acc_fabric.WEB_SEARCH[-1], cut), (acc_fabric.FOLLOWED, followed))
    }
    text = acc_fabric._verdict(acc_fabric.Outcomes(2, metrics), "fct_mean_us", "all flows")
    assert text.startswith(f"ACC's gain in the mean FCT of all flows at 90 %: against SECN1 {says}; against SECN2")


def slices(fct: float) -> list[dict[str, float]]:
    """Of each phase the first slice has one flow of ``fct``, the last three of twice that, all times the phase's
    number; between none ends."""
    none = dict.fromkeys((f"{flows}completions" for flows in FLOWS), 0.0) | {f"{f}fct_mean_us": np.nan for f in FLOWS}
    found = []
    for number in range(len(PHASES)):
        first, last = (
            {f"{f}completions": flows for f in FLOWS} | {f"{f}fct_mean_us": us * (number + 1) for f in FLOWS}
            for flows, us in ((1.0, fct), (3.0, 2 * fct))
        )
        found += [first, *[none] * (SLICES - 2), last]
    return found


def test_phases_are_told_apart_and_their_halves() -> None:
    changed = Changed(
        {"ACC": [slices(60), slices(120)], "SECN1": [slices(100), slices(200)], "SECN2": [slices(80)] * 2}
    )
    text = acc_change.page(changed, 2, load_toml(DdqnConfig, acc.ONLINE))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "|" in line]
    assert rows.count(["SECN2", "140", "280", "420", "560"]) == len(FLOWS)
    assert ["against SECN1, all", "-31.1", "-40.0"] in rows
    mice = next(row for row in rows if row[0] == "against SECN2, mice")
    assert mice[1] == "-"
    assert mice[2].startswith("12.5 ±")
    assert ["ACC", *["-40"] * 8] in rows
    assert changed.means("SECN1", "", 1).shape == (2, len(PHASES) * SLICES)
    assert acc_change.picture(changed).startswith(b"<?xml")


def idled(events: float, fct: float) -> list[dict[str, float]]:
    engines = {"engine_events": events, "engine_utilisation": events / 1000, "engine_utilisation_max": events / 500}
    return [dict.fromkeys(acc_idle.SHOWN, fct * each) | engines for each in (1, 2)]


def test_idle_queues_are_set_beside_those_that_are_always_asked() -> None:
    rules = {acc_idle.EVERY: (400.0, 100.0), "busy, idle after 3": (300.0, 101.0), "busy, idle after 1": (100.0, 110.0)}
    metrics = {(load, rule): idled(*each) for load in acc_idle.LOADS for rule, each in rules.items()}
    loads = acc_idle.LOADS
    found = acc_idle.Idled(metrics, dict.fromkeys(loads, (0.5, 0.01)), dict.fromkeys(loads, (0.25, 160_000)))
    text = acc_idle.page(found, 2)
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    load = f"`{acc_idle.LOADS[0]}`"
    assert [load, "busy, idle after 3", "-25.0 (-25.0 to -25.0)", "30.0%", "60.0%"] in lines
    assert [load, "busy, idle after 1", *["+10.0 (+10.0 to +10.0)"] * len(acc_idle.SHOWN)] in lines
    assert [load, "50.0%", "1.0%"] in lines
    assert [load, "25.0%", "160"] in lines


def test_a_reward_stands_still_from_its_third_time_on() -> None:
    """Two queues of six decisions; of the first the reward changes at the third, the other has no queue."""
    config = load_toml(DdqnConfig, acc.TRAINING)
    queue = np.array([90_000, 90_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000, 0, 0, 0, 0, 0, 0], np.uint32)
    records = {name: np.zeros(12, np.uint32) for name in record_columns(QUEUE_MARKING)} | {
        "t_ps": np.tile(np.arange(6), 2), "queue": np.repeat([0, 1], 6).astype(np.uint32),
        "step": np.tile(np.arange(6), 2), "queue_bytes": queue, "kmin_bytes": np.full(12, 20_000, np.uint32),
    }  # fmt: skip
    same, above = acc_idle.standing_still(records, {"capacity_bytes": np.full(2, 156_250, np.uint32)}, config)
    assert same == (2 + 4) / 12  # none of an agent's first two decisions has two before it
    assert above == 2 / 6
    assert acc_idle.at_empty(records) == (0.5, 20_000)

"""ACC's pages say what the runs said."""

import numpy as np

from bench.papers import acc_bed, acc_change
from bench.papers.acc_bed import Bed
from bench.papers.acc_change import METRICS, PHASES, Changed
from netsim.kept import Outcome
from netsim.samples import Samples


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
    rows = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:]]
        for line in text.splitlines()
        if "|" in line
    }
    assert rows["SECN1"][:4] == ["30.0", "0.0", "20.4 (49.6)", "4.00"]
    assert rows["SECN1"][-2:] == ["6.25", ""]  # of 25 Gb/s
    assert rows["SECN1"][11:14] == ["6.0", "6.0", "6.0"]  # p99.9 of slowdowns of 2, 4 and 6
    assert rows["SECN1, 60 %"][:3] == ["3.00 (3.00 to 3.00)", "3.64", "2.00 (2.00 to 2.00)"]
    assert rows["SECN2, 20 %"][:2] == ["6.00 (6.00 to 6.00)", "-"]


def test_phases_are_told_apart() -> None:
    def phases(fct: float) -> list[dict[str, float]]:
        return [dict.fromkeys(METRICS, fct * (number + 1)) for number in range(len(PHASES))]

    changed = Changed(
        {"ACC": [phases(60), phases(120)], "SECN1": [phases(100), phases(200)], "SECN2": [phases(80)] * 2}
    )
    rows = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:]]
        for line in acc_change.page(changed, 2).splitlines()
        if "|" in line
    }
    assert rows["SECN2"] == ["80", "80", "160", "160", "240", "240", "320", "320", ""]
    assert rows["against SECN1"][:2] == ["-31.1", "-40.0"]

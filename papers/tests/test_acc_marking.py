"""ACC's thresholds: the least that costs no goodput, the reward's steps, a page that is whole."""

import pytest

from netsim.baselines import NetworkFacts
from papers import acc_marking
from papers.acc_marking import THRESHOLDS_KB, at, marking, reward_of_queue, smallest
from papers.found import Found
from papers.sections import wanted


def found() -> Found:
    """More senders are content with less."""
    runs = {}
    for r in wanted(acc_marking.sections(), acc_marking.who(), (1, 2)):
        kb = next(k for k in THRESHOLDS_KB if at(k) == r.contender.label)
        enough = 100 if r.traffic is acc_marking.FEW else 20
        metrics = {"goodput": 0.9 if kb >= enough else 0.5, "queue_mean_us": kb / 3, "pfc_paused_share": 0.0}
        runs[r.contender.label, r.traffic.name, r.seed] = metrics
    return Found(runs, (1, 2))


def test_the_least_threshold_that_costs_no_goodput() -> None:
    assert [smallest(found(), name) for name in acc_marking.TRAFFIC] == [100, 20]


def test_dcqcn_where_every_packet_above_one_threshold_is_marked() -> None:
    spec = marking(50)
    assert spec.ecn is not None
    at = spec.ecn.at(NetworkFacts(25, 8_192_000, 10**9))
    assert (at.kmin, at.kmax, at.pmax) == (50_000, 50_000, 1.0)
    assert spec.ecn.at(NetworkFacts(100, 8_192_000, 10**9)).kmin == 200_000


def test_the_reward_falls_by_a_tenth_for_each_doubling() -> None:
    queues = [0, 20_000, 20_001, 40_001, 10_240_000, 10_240_001]
    assert [round(reward_of_queue(q), 6) for q in queues] == [1, 1, 0.9, 0.8, 0.1, 0]


@pytest.mark.slow
def test_the_page_is_whole_and_its_pictures_are_small() -> None:
    made = acc_marking.sections()
    text = acc_marking.page(found(), made)
    assert "100 KB / 500 KB with 8 hosts" in text.replace("\n", " ")
    assert "5 times that of the second" in text.replace("\n", " ")
    assert "nan" not in text.lower()
    assert max(len(line) for line in text.split("\n") if not line.startswith(("|", "!"))) <= 120
    pictures = (acc_marking.picture_1(found()), acc_marking.picture_4(), acc_marking.picture_11())
    assert all(2_000 < len(picture) < 200_000 for picture in pictures)

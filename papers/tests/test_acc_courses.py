"""ACC over time: what a step and a burst are, and that the page says what the courses said."""

import numpy as np
import pytest

from netsim import Cohort
from netsim.network import MS, US
from papers import acc
from papers.acc_courses import (
    EVERY_PS,
    FALLS,
    FILLED,
    LINK_BPS,
    STEP_PS,
    STEPS,
    Course,
    burst,
    busy,
    course,
    crowd,
    kmin_kb,
    page,
    queue_kb,
    stepped,
    together,
    until_short_us,
)
from rlcc.recipe import deployment_of, load_recipe


def flat(queue_kb: float, share: float, until_ps: int) -> Course:
    """A queue that stays, and a port that is busy for so much of the time."""
    t_us = np.arange(1, until_ps // EVERY_PS + 1, dtype=np.float64) * float(EVERY_PS / US)
    return Course(t_us, np.full(t_us.size, 1e3 * queue_kb), np.full(t_us.size, share), np.full(t_us.size, 20e3))


def test_a_step_has_what_the_link_carries_in_its_time() -> None:
    scenario = stepped()
    payload = 1024
    last = scenario.column("last_bytes").astype(np.int64)
    sizes = (scenario.column("packets").astype(np.int64) - (last > 0)) * payload + last
    starts = scenario.column("start_ps")
    for number, (senders, flows) in enumerate(STEPS):
        mine = starts == number * STEP_PS
        assert mine.sum() == senders * flows
        assert np.unique(scenario.column("host")[mine]).size == senders
        assert sizes[mine].sum() * 8e12 / STEP_PS == pytest.approx(FILLED * LINK_BPS, rel=1e-5)
    assert set(scenario.column("receiver")) == {0}


def test_a_burst_falls_on_flows_that_go_on() -> None:
    scenario = burst()
    endless = scenario.column("packets") == 0
    assert endless.sum() == 2
    assert set(scenario.column("start_ps")[endless]) == {0}
    assert set(scenario.column("start_ps")[~endless]) == {FALLS}
    assert set(scenario.column("last_bytes")[~endless]) == {64_000 % 1024}


def test_a_course_is_of_the_port_of_the_receiver() -> None:
    """Two flows fill the link, and keep to the marking that does not change; none of both, and there is no queue."""
    deployment = deployment_of(load_recipe(acc.RECIPE), acc.RECIPE)
    cohort = Cohort(acc.setting(40_000, 200_000, 100), deployment.period_ps, 0)
    made = course(deployment, cohort, together("two", [crowd(2, 1, 0, MS // 10)]), 1, MS)
    assert busy(made, 0, MS // 10) == 0
    assert queue_kb(made, 0, MS // 10) == 0
    assert busy(made, MS // 5, MS) > 90
    assert queue_kb(made, MS // 5, MS) > 1
    assert made.kmin_bytes[-1] == 40_000


def test_a_queue_is_short_again_when_it_first_is_after_its_peak() -> None:
    its = flat(30, 1, 12 * MS)
    its.queue_bytes[(its.t_us > 5_000) & (its.t_us <= 5_100)] = 900e3
    its.queue_bytes[(its.t_us > 5_100) & (its.t_us <= 6_000)] = 51e3
    its.kmin_bytes[its.queue_bytes == 900e3] = 5e3
    assert until_short_us(its) == 1_020
    assert kmin_kb(its, long=True) == 5
    assert kmin_kb(its, long=False) == 20


def test_the_page_sets_throughput_beside_the_papers() -> None:
    whole = len(STEPS) * STEP_PS
    steps = {
        "ACC": [flat(10, 0.9, whole)] * 2,
        "SECN1": [flat(100, 0.6, whole)] * 2,
        "SECN2": [flat(50, 0.9, whole)] * 2,
    }
    fallen = {name: [flat(30, 0.5, 12 * MS)] * 2 for name in steps}
    for each in fallen["ACC"]:
        each.queue_bytes[0] = 1e6
    text = page(steps, fallen)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    assert ["ACC", *["10.0"] * 6] in rows
    assert ["SECN1", *["60.0"] * 6] in rows
    assert ["SECN1", *["-90.0 (-90.0 to -90.0)"] * len(STEPS)] in rows
    assert "+50.0 (+50.0 to +50.0) against SECN1 and +0.0 (+0.0 to +0.0) against SECN2. The paper: +26.1" in text
    assert ["SECN2", "30.0", "30", "30.0", "20", "50.0"] in rows

"""Whole runs: the same seed gives the same bytes, time goes forward, bad input is told, Ctrl-C works."""

import signal
import time

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.policy.records import record_columns
from netsim import Network, Simulation, simulate
from netsim.network import MS
from netsim.simulation import merge

SHORT = {"duration_ps": 4 * MS, "window_ps": (MS, 3 * MS)}

COLUMNS = record_columns(FLOW_RATE)


def same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return all(a[name].tobytes() == b[name].tobytes() for name in COLUMNS)


@pytest.mark.parametrize("scenario", ["many-to-one:64", "all-to-all:4", "long-short:8"])
def test_the_same_seed_gives_the_same_bytes(steering, scenario: str) -> None:
    first, again, other = (simulate(scenario, steering(), seed=seed, record=True, **SHORT) for seed in (7, 7, 8))
    np.testing.assert_equal(first.metrics, again.metrics)
    assert same(first.records, again.records)
    assert not same(first.records, other.records)


def test_a_run_in_parts_is_the_same_run(steering) -> None:
    whole = Simulation("many-to-one:16", steering(), seed=1, record=True)
    whole.run(3 * MS)
    parts, drained = Simulation("many-to-one:16", steering(), seed=1, record=True), []
    for until in np.linspace(1, 3 * MS, 23).astype(int):
        parts.run(until)
        drained.append(parts.drain_records())
    assert same(whole.drain_records(), merge(drained))
    assert whole.conservation() == parts.conservation()


def test_records_have_the_columns_of_spec(steering) -> None:
    records = simulate("many-to-one:4", steering(), seed=1, record=True, **SHORT).records
    assert list(records) == list(COLUMNS)
    for name, dtype in COLUMNS.items():
        assert records[name].dtype == dtype
        assert records[name].flags.c_contiguous
    assert (np.diff(records["t_ps"]) >= 0).all()
    for flow in range(4):
        step = records["step"][records["flow"] == flow]
        np.testing.assert_array_equal(step, np.arange(step.size))


def test_nothing_is_recorded_unless_asked(steering) -> None:
    assert simulate("many-to-one:4", steering(), seed=1, **SHORT).records["t_ps"].size == 0


def test_window_metrics_are_exact(steering) -> None:
    """Windows that tile a run add up to the run."""
    names = ("data_packets", "dropped_packets", "decisions", "nacks", "cnps", "timeouts")
    whole = Simulation("many-to-one:128", steering(), seed=1)
    whole.run(4 * MS)
    parts, total = Simulation("many-to-one:128", steering(), seed=1), dict.fromkeys(names, 0.0)
    delivered = np.zeros(128)
    for until in (MS // 3, MS, 4 * MS):
        parts.reset_window()
        parts.run(until)
        delivered += parts.window()["delivered_packets"]
        for name in names:
            total[name] += parts.metrics()[name]
    assert total == {name: whole.metrics()[name] for name in names}
    assert total["dropped_packets"] > 0
    np.testing.assert_array_equal(delivered, whole.window()["delivered_packets"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scenario": "many-to-two:4"}, "unknown scenario"),
        ({"scenario": "many-to-one:-4"}, "unknown scenario"),
        ({"scenario": "many-to-one:0"}, "not possible"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"duration_ps": -1}, "window"),
        ({"window_ps": (2 * MS, MS)}, "window"),
        ({"window_ps": (-5, MS)}, "window"),
        ({"decision_latency_ps": -1}, "decision latency"),
        ({"decision_latency_ps": 0.9}, "decision latency"),
        ({"duration_ps": 10**18}, "up to 100 s"),
    ],
)
def test_bad_input_is_told(steering, change: dict[str, object], message: str) -> None:
    scenario = change.pop("scenario", "many-to-one:4")
    with pytest.raises(InputError, match=message):
        simulate(scenario, steering(), **({"seed": 1} | SHORT | change))


def test_time_goes_forward(steering) -> None:
    run = Simulation("many-to-one:4", steering(), seed=1)
    run.run(MS)
    with pytest.raises(InputError, match="forward"):
        run.run(MS - 1)


def test_a_signal_interrupts_a_run_which_can_then_go_on(steering) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(*_: object) -> None:
        raise Interrupted

    run = Simulation("many-to-one:64", steering(), seed=1)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        begin = time.monotonic()
        with pytest.raises(Interrupted):
            run.run(100_000 * MS)
        assert time.monotonic() - begin < 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert run.conservation()["holds"]
    run.run(run.now_ps + MS)


def test_only_native_policies_have_weights(steering, constant) -> None:
    from decision.ir.forest import Forest
    from decision.policy.actions import TanhMap
    from decision.policy.tree_decision import build, feature_names
    from netsim import policies

    policy = steering().policy
    student = Forest(feature_names(policy.observation), (), (0,), 16)
    program = build(policy.observation, TanhMap(kind="tanh_map", step=0.2), student)
    run = Simulation("many-to-one:4", policies.program(program, policies.Installed(policy.params())), seed=1)
    for ask in (run.hidden_state, run.observations):
        with pytest.raises(InputError, match="native"):
            ask()


def test_signals_count_what_came_since_the_last_decision(steering) -> None:
    """Over all records they add up to the totals, but for what came after each flow's last decision."""
    network = Network(buffer_bytes=100_000, ecn_min_bytes=5_000, ecn_max_bytes=80_000)
    run = Simulation("many-to-one:8", steering(0.5), seed=1, record=True, network=network)
    run.run(5 * MS)
    records, counts = run.drain_records(), run.window()["counts"]
    for name, total, slack in (
        ("nack_count", counts["nacks"], 16),
        ("cnp_count", counts["cnps"], 80),
        ("sent_bytes", counts["data_sent"] * 1024, 8 * 640 * 1024),
    ):
        summed = int(records[name].astype(np.int64).sum())
        assert 0 < summed <= total
        assert total - summed <= slack, name

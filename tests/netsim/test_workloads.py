"""Open-loop traffic: the published distributions, Poisson arrivals, the load that was asked for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.artefact.errors import InputError
from netsim import workloads
from netsim.workloads import Arrivals

MS = 10**9
EACH = sorted(set(workloads.NAMES.values()) - {"messages"})  # steps: tests/netsim/test_scenarios.py


def draw(name: str, load: int, *, hosts: int = 16, gbps: int = 100, seed: int = 1, flows: int = 20_000) -> Arrivals:
    """So long a run that ``flows`` are expected."""
    duration_ps = round(flows * workloads.gap_ps(name, load, hosts, gbps))
    return workloads.poisson(
        name, load, hosts=hosts, host_gbps=gbps, seed=seed, duration_ps=duration_ps, most=10 * flows
    )


@pytest.mark.parametrize(
    ("name", "mean_bytes"),
    [
        ("websearch", 1_711_250),
        ("datamining-vl2", 12_658_198.6),
        ("datamining-abm", 5_036_535.175),
        ("hadoop", 120_420.75),
        ("storage", 40_869.8),
    ],
)
def test_means(name: str, mean_bytes: float) -> None:
    """In exact fractions; commonly quoted as 1.711, 12.66, 5.04, 0.120 and 0.041 MB."""
    assert workloads.sizes(name).mean_bytes == pytest.approx(mean_bytes, rel=1e-12)


@pytest.mark.parametrize("name", EACH)
def test_points_are_a_distribution_and_say_where_they_come_from(name: str) -> None:
    sizes = workloads.sizes(name)
    assert sizes.probability[0] == 0
    assert sizes.probability[-1] == 1
    assert (np.diff(sizes.probability) > 0).all()
    assert (np.diff(sizes.size_bytes) > 0).all()
    text = (workloads.DATA / f"{name}.txt").read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert "SIGCOMM" in text


def test_sizes_are_linear_between_points() -> None:
    sizes = workloads.sizes("websearch")
    assert sizes.quantile(np.array([0.15, 0.175, 0.60, 0.65, 0.985])).tolist() == [
        10_000, 15_000, 200_000, 600_000, 20_000_000,
    ]  # fmt: skip
    assert sizes.quantile(np.array([0.0])).tolist() == [1]


@pytest.mark.parametrize("name", EACH)
def test_drawn_sizes_follow_the_points(name: str) -> None:
    drawn = draw(name, 50).size_bytes
    sizes = workloads.sizes(name)
    # Sizes are whole bytes: up to half a byte's share too many are at a point.
    whole = 0.5 * drawn.size * float((np.diff(sizes.probability) / np.diff(sizes.size_bytes)).max())
    for size, p in zip(sizes.size_bytes, sizes.probability, strict=True):
        below = np.count_nonzero(drawn <= size)
        assert abs(below - p * drawn.size) <= 5 * np.sqrt(drawn.size * p * (1 - p)) + whole, size


@given(st.sampled_from(EACH), st.integers(1, 100), st.integers(2, 300), st.sampled_from([25, 100, 400]), st.integers(0))
@settings(max_examples=examples(25))
def test_the_load_is_payload_over_the_hosts_links(name: str, load: int, hosts: int, gbps: int, seed: int) -> None:
    """Number of flows and bytes of a Poisson process, within five standard deviations."""
    flows = 5000
    drawn = draw(name, load, hosts=hosts, gbps=gbps, seed=seed % 2**63, flows=flows)
    assert abs(drawn.size_bytes.size - flows) < 5 * np.sqrt(flows)
    sizes = workloads.sizes(name)
    a, b, p = sizes.size_bytes[:-1], sizes.size_bytes[1:], np.diff(sizes.probability)
    square = float(np.sum(p * (a * a + a * b + b * b) / 3))
    capacity = load / 100 * hosts * gbps * 1e9 / 8  # bytes a second
    offered = capacity * flows * workloads.gap_ps(name, load, hosts, gbps) * 1e-12
    assert offered == pytest.approx(flows * sizes.mean_bytes)
    assert abs(float(drawn.size_bytes.sum()) - offered) < 5 * np.sqrt(flows * square)


def test_arrivals_are_poisson() -> None:
    """Gaps are exponential, and one says nothing of the next."""
    gap = workloads.gap_ps("websearch", 60, 16, 100)
    gaps = np.diff(draw("websearch", 60, flows=70_000).start_ps, prepend=0)
    assert (gaps >= 0).all()
    for times in (0.1, 0.5, 1, 2, 4):
        p = np.exp(-times)
        assert abs(np.mean(gaps > times * gap) - p) < 5 * np.sqrt(p * (1 - p) / gaps.size)
    assert abs(np.corrcoef(gaps[1:], gaps[:-1])[0, 1]) < 5 / np.sqrt(gaps.size)
    assert gaps[: gaps.size - workloads.CHUNK].tolist() != gaps[workloads.CHUNK :].tolist()


def test_sources_and_destinations_are_uniform_and_differ() -> None:
    hosts = 5
    drawn = draw("hadoop", 50, hosts=hosts)
    pairs = np.zeros((hosts, hosts), int)
    np.add.at(pairs, (drawn.host, drawn.receiver), 1)
    assert not pairs.diagonal().any()
    each = drawn.host.size / (hosts * (hosts - 1))
    assert (np.abs(pairs[~np.eye(hosts, dtype=bool)] - each) < 5 * np.sqrt(each)).all()


def test_size_destination_and_time_are_independent() -> None:
    drawn = draw("storage", 50, flows=50_000)
    columns = [np.diff(drawn.start_ps, prepend=0), drawn.host, (drawn.receiver - drawn.host) % 16, drawn.size_bytes]
    matrix = np.corrcoef(np.argsort(np.argsort(columns, axis=1, kind="stable"), axis=1))
    assert np.abs(matrix - np.eye(4)).max() < 5 / np.sqrt(drawn.host.size)


@given(st.integers(0, 2**63), st.integers(1, 100))
@settings(max_examples=examples(20))
def test_the_same_seed_draws_the_same_flows_and_a_longer_run_only_more(seed: int, load: int) -> None:
    short, again, longer = (draw("websearch", load, seed=seed, flows=flows) for flows in (300, 300, 70_000))
    count = short.start_ps.size
    for name in ("start_ps", "host", "receiver", "size_bytes"):
        assert getattr(short, name).tolist() == getattr(again, name).tolist() == getattr(longer, name)[:count].tolist()
    assert longer.start_ps[count] >= round(300 * workloads.gap_ps("websearch", load, 16, 100))
    assert draw("websearch", load, seed=seed + 1, flows=300).start_ps.tolist() != short.start_ps.tolist()


@pytest.mark.parametrize(
    ("name", "hosts", "duration_ps", "sentence"),
    [
        ("gossip", 4, MS, "unknown workload 'gossip'"),
        ("websearch", 1, MS, "nobody .*send to"),
        ("websearch", 4, 1, "no flow .*1e-09 ms"),
        ("storage", 8192, 100 * MS, "hosts .*duration"),
    ],
)
def test_traffic_that_cannot_be(name: str, hosts: int, duration_ps: int, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        workloads.poisson(name, 50, hosts=hosts, host_gbps=100, seed=1, duration_ps=duration_ps, most=1 << 20)

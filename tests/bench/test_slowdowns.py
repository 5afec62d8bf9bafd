"""FCT slowdown next to HPCC's evaluation: its fabric, its traffic, the bins, and the verdict."""

import numpy as np
import pytest

from bench import slowdowns
from decision.artefact.documents import load_toml
from decision.artefact.errors import InputError
from netsim.network import MS


def published() -> slowdowns.PublishedSlowdowns:
    return load_toml(slowdowns.PublishedSlowdowns, slowdowns.PUBLISHED)


def test_the_fabric_is_the_artefacts() -> None:
    """320 hosts, 56 switches and 160 links of 400 Gb/s, each of two ports; hosts of two pods are five ports apart."""
    fabric = slowdowns.fabric()
    assert (fabric.hosts, fabric.switches, fabric.hops) == (320, 56, 5)
    assert sum(port.gbps == 400 for port in fabric.ports) == 320
    between = [port for port in fabric.ports if port.to >= 0]
    pairs = {(port.switch, port.to) for port in between}
    assert len(pairs) == len(between)
    assert all((to, of) in pairs for of, to in pairs)
    assert np.bincount([port.switch for port in between]).tolist() == [4] * 20 + [8] * 20 + [5] * 16


def test_incasts_come_on_top_of_the_load() -> None:
    plain, mixed = (slowdowns.traffic(30, incast, 1, 4 * MS) for incast in (False, True))
    added = len(mixed.flows) - len(plain.flows)
    assert added % slowdowns.INCAST_SENDERS == 0
    rounds = added // slowdowns.INCAST_SENDERS
    assert 3 <= rounds <= 25  # 10.7 are expected
    size = mixed.size_bytes(slowdowns.NETWORK.payload_bytes)
    assert (size == slowdowns.INCAST_BYTES).sum() >= added
    offered = [scenario.size_bytes(1000).sum() * 8 / (4e-3 * 320 * 100e9) for scenario in (plain, mixed)]
    assert offered[0] == pytest.approx(0.3, rel=0.1)
    assert offered[1] - offered[0] == pytest.approx(added * 500_000 * 8 / (4e-3 * 320 * 100e9))
    assert mixed.flows == slowdowns.traffic(30, True, 1, 4 * MS).flows


def test_a_bin_is_of_the_flows_around_its_share() -> None:
    size = np.arange(1000)[::-1]
    bins = slowdowns.by_size(size, size.astype(np.float32), [50, 98])
    assert [each.size_bytes for each in bins] == [519, 999]
    assert [each.slowdown for each in bins] == pytest.approx([480 + 0.95 * 39, 960 + 0.95 * 39])
    assert slowdowns.by_size(size, np.full(1000, 0.5, np.float32), [50])[0].slowdown == 1.0
    with pytest.raises(InputError):
        slowdowns.by_size(size[:1], np.ones(1, np.float32), [50])


def test_a_row_is_judged_by_its_worst_bin() -> None:
    bins = [slowdowns.SizeBin(100, 1.0), slowdowns.SizeBin(200, 2.0)]
    assert slowdowns._row("a", bins, [1.0, 2.2], 0, 0.1)[-1].startswith("PASS")
    assert slowdowns._row("a", bins, [1.0, 2.5], 0, 0.1)[-1].startswith("FAIL")
    assert slowdowns._row("a", bins, None, 0, 0.1)[-1] == "-"


def test_who_is_published_runs() -> None:
    scenes = published()
    for scene in scenes.scenes:
        assert set(scene.theirs) <= set(slowdowns.algorithms(scene.incast, {}))
        assert all(len(row) == len(scenes.shares) for row in scene.theirs.values())
    assert any(scene.incast for scene in scenes.scenes)

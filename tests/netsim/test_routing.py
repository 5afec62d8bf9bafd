"""Links that fail and come back, packets that are spread over equal paths, and receivers that hold what overtook."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.artefact.errors import InputError
from netsim import Failure, Mix, Network, Part, Simulation, baselines, network_file, simulate, topology
from netsim.network import MS, US

FABRIC = "leaf-spine:4x2x2"
TRAFFIC = f"all-to-all:8@{FABRIC}"
NAMES = ("dcqcn", "swift", "dctcp")


def run(network, until_ps=2 * MS, name="dctcp", scenario=TRAFFIC, seed=1):
    simulation = Simulation(scenario, baselines.by_name(name), seed=seed, network=network)
    simulation.run(until_ps)
    return simulation


def failing(link="leaf0-spine1", from_ps=1 * MS, for_ps=1 * MS, **given):
    return Network(failures=(Failure(link, from_ps, for_ps),), **given)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("classes", [(1,), (1, 2)])
def test_a_link_that_fails_after_the_end_changes_nothing(name, classes):
    late = run(failing(from_ps=10 * MS, class_weights=classes), name=name)
    never = run(Network(class_weights=classes), name=name)
    assert late.metrics() == pytest.approx(never.metrics(), rel=0, abs=0, nan_ok=True)
    for key in ("delivered_packets", "port_received_bytes", "port_dropped"):
        np.testing.assert_array_equal(late.window()[key], never.window()[key])


def test_holding_packets_changes_nothing_where_none_overtakes_another():
    """Nothing is lost or overtaken with few flows: there is nothing to hold."""
    held, plain = run(Network(reorder_packets=64), name="swift"), run(Network(), name="swift")
    assert plain.metrics()["nacks"] == 0
    np.testing.assert_array_equal(held.delivered(), plain.delivered())


@given(
    link=st.sampled_from(["leaf0-spine1", "spine0-leaf3", "leaf2-spine0"]),
    name=st.sampled_from(NAMES),
    reroute=st.sampled_from([0, 50 * US]),
    spray=st.booleans(),
    classes=st.booleans(),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=examples(25), deadline=None)
def test_no_packet_crosses_a_link_that_is_down_and_none_is_lost_sight_of(link, name, reroute, spray, classes, seed):
    weights = (1, 1) if classes else (1,)
    net = failing(
        link, 300 * US, 400 * US, reroute_ps=reroute, spray=spray, reorder_packets=64 * spray, class_weights=weights
    )
    simulation = run(net, 300 * US, name, seed=seed)
    ports = topology.by_name(FABRIC).link_ports(link)
    simulation.reset_window()
    simulation.run(700 * US)
    window = simulation.window()
    assert (window["port_received_bytes"][ports] == 0).all()
    assert window["port_received_bytes"].sum() > 0
    assert simulation.conservation()["holds"]
    if reroute:
        assert window["port_dropped"][ports].sum() > 0
    simulation.run(750 * US + reroute)
    simulation.reset_window()
    simulation.run(1500 * US)
    assert (simulation.window()["port_received_bytes"][ports] > 0).all()
    assert simulation.conservation()["holds"]


def test_flows_whose_path_holds_keep_it():
    """leaf0-spine1 is down: what leaves between other leaves by spine 1 goes on there."""
    simulation = run(failing(), 1100 * US)
    simulation.reset_window()
    simulation.run(1900 * US)
    fabric = topology.by_name(FABRIC)
    received = simulation.window()["port_received_bytes"]
    for leaf in (1, 2, 3):
        up, down = fabric.link_ports(f"leaf{leaf}-spine1")
        assert min(received[up], received[down]) > 0
    assert received[fabric.link_ports("leaf0-spine0")].min() > 0


def test_a_switch_that_is_cut_off_gets_nothing_until_it_is_back():
    net = Network(failures=(Failure("leaf0-spine0", MS, MS), Failure("leaf0-spine1", MS, MS)))
    simulation = run(net, 1100 * US)
    simulation.reset_window()
    simulation.run(1990 * US)
    received = simulation.window()["port_received_bytes"]
    fabric = topology.by_name(FABRIC)
    assert received[fabric.link_ports("leaf0-spine0") + fabric.link_ports("leaf0-spine1")].sum() == 0
    assert simulation.conservation()["holds"]
    simulation.run(12 * MS)
    assert simulation.metrics()["goodput"] > 0


@given(seed=st.integers(0, 2**31), spines=st.integers(2, 6))
@settings(max_examples=10, deadline=None)
def test_spraying_spreads_evenly(seed, spines):
    fabric = f"leaf-spine:2x2x{spines}"
    net = Network(spray=True, reorder_packets=256)
    simulation = run(net, 2 * MS, "dctcp", f"all-to-all:4@{fabric}", seed)
    where = topology.by_name(fabric)
    received = simulation.window()["port_received_bytes"]
    up = np.array([received[where.link_ports(f"leaf0-spine{spine}")[0]] for spine in range(spines)]) / 1106
    mean = up.mean()
    assert np.abs(up - mean).max() < 6 * np.sqrt(mean)
    assert simulation.conservation()["holds"]


def test_sprayed_packets_arrive_whole_where_the_receiver_holds_them():
    """Flows of a known size end, whatever order their packets come in, and none is delivered twice."""
    held = simulate(
        f"incast:6x500KB@{FABRIC}", baselines.by_name("dctcp"), seed=1, duration_ps=9 * MS, window_ps=(0, 9 * MS),
        network=Network(spray=True, reorder_packets=256),
    )  # fmt: skip
    assert held.metrics["completions"] == 6
    assert held.metrics["nacks"] == 0


def test_going_back_n_pays_for_each_packet_that_overtakes():
    plain, held = (run(Network(spray=True, reorder_packets=n), 3 * MS).metrics() for n in (0, 256))
    assert plain["nacks"] > 10 * max(held["nacks"], 1)
    assert plain["goodput"] < held["goodput"]


def test_a_loss_is_still_reported_where_packets_are_held():
    """A short buffer drops: gaps beyond what is held are reported, others time out, and flows go on."""
    simulation = run(Network(reorder_packets=16, buffer_bytes=60_000), 8 * MS, "dcqcn")
    metrics = simulation.metrics()
    assert metrics["dropped_packets"] > 0
    assert metrics["nacks"] + metrics["timeouts"] > 0
    assert simulation.delivered().min() > 16


def test_a_file_says_it(tmp_path):
    file = tmp_path / "network.toml"
    file.write_text(
        'spray = true\nreorder_packets = 64\nreroute = "1 ms"\n'
        '[[failures]]\nlink = "leaf0-spine1"\nfrom = "20 ms"\nfor = "10 ms"\n'
    )
    assert network_file.load(file) == Network(
        spray=True, reorder_packets=64, reroute_ps=MS, failures=(Failure("leaf0-spine1", 20 * MS, 10 * MS),)
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("failures = 3", "write \\[\\[failures\\]\\]"),
        ('[[failures]]\nlink = "a"', r"\[\[failures\]\] .*link"),
        ('[[failures]]\nlink = 3\nfrom = "1 ms"\nfor = "1 ms"', "the link is 3"),
        ('[[failures]]\nlink = "a0-b0"\nfrom = "1 ms"\nfor = "0 ms"', "up to 100 s"),
        (
            'lossless = true\nbuffer="32 MiB"\n[[failures]]\nlink = "a0-b0"\nfrom = "1 ms"\nfor = "1 ms"',
            "loses what",
        ),
        ("reorder_packets = 5000", "at most 4096"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_in_one_sentence(tmp_path, text, said):
    file = tmp_path / "network.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=said):
        network_file.load(file)


@pytest.mark.parametrize(
    ("network", "name", "said"),
    [
        (
            failing("leaf0-spine7"),
            "dctcp",
            "'leaf0-spine7'; .*leaf0-spine1; .*leaf0 to spine1",
        ),
        (failing("leaf0-leaf1"), "dctcp", "no link .*leaf0 to leaf1"),
        (failing("leaf0-spine1:1"), "dctcp", "1 links .*leaf0 to spine1"),
        (failing("the spine"), "dctcp", "no link 'the spine'"),
        (Network(spray=True), "hpcc", "hops of .*path"),
        (Network(spray=True), "max-min", "of fixed paths"),
        (failing(), "hpcc", "hops of .*path"),
    ],
)
def test_what_does_not_go_together_is_said(network, name, said):
    with pytest.raises(InputError, match=said):
        run(network, name=name)


def test_a_mix_is_sprayed_too():
    mix = Mix((Part(baselines.by_name("swift"), 50), Part(baselines.by_name("dctcp"), 50)))
    simulation = Simulation(TRAFFIC, mix, seed=1, network=failing(spray=True, reorder_packets=64))
    simulation.run(3 * MS)
    window = simulation.window()
    assert simulation.conservation()["holds"]
    assert sum(share["dropped"] for share in window["shares"]) == window["counts"]["data_dropped"]

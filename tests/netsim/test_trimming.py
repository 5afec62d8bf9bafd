"""Packets that switches trim to their headers, by hand and by conservation; paths by entropy values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_window import FLOW_WINDOW
from netsim import Failure, Network, Scenario, Simulation, baselines
from netsim.network import MS, US
from netsim.network_file import from_table
from netsim.policies import fixed
from netsim.scenarios import Flow, read

PACKET = 1106 * 80
HEADER = 84 * 80
"""On a link of 100 Gb/s, ps."""
WAY = 4_000_000 - 2 * PACKET
"""The delay of a packet's both links without its transmissions, ps."""
BACK = 8_192_000 - (4_000_000 - PACKET + HEADER)
NAMES = ("dctcp", "swift", "nscc", "dcqcn", "policy")


def burst(packets: int, **network) -> Simulation:
    """Two hosts send so many packets each to one port, at line rate and all at once."""
    values = {"trim_bytes": 4 * 1106, "transport": "selective-repeat", "start_jitter_ps": 0, **network}
    scenario = Scenario("burst", 2, 1, tuple(Flow(host, 0, packets) for host in range(2)))
    simulation = Simulation(scenario, baselines.by_name("dctcp"), seed=1, network=Network(**values))
    simulation.run(4 * MS)
    return simulation


def counts(simulation: Simulation) -> dict[str, int]:
    return simulation.window()["counts"]


def test_a_packet_beyond_the_queue_is_trimmed_and_repeated_alone() -> None:
    """Each pair adds a packet to the queue. The second packet of the fifth pair meets five. Its header delays the queue
    so that the sixth pair meets more than four; of the seventh and eighth the second packets do."""
    simulation = burst(8)
    counted, where = counts(simulation), simulation.conservation()
    assert counted["trimmed"] == where["headers_arrived"] == 5
    assert counted["data_dropped"] == counted["timeouts"] == counted["nacks"] == 0
    assert counted["data_sent"] == 16 + counted["trimmed"]
    assert simulation.delivered().tolist() == [8, 8]
    assert simulation.metrics()["trimmed"] == counted["trimmed"] / counted["data_sent"]
    assert simulation.metrics()["queue_max_bytes"] <= 6 * 1106


def test_a_header_goes_before_what_waits() -> None:
    """The last packet of a flow is trimmed, and yet its repeat ends the flow: by the header that overtook four packets,
    no timer is needed."""
    fast, slow = burst(6), burst(6, trim_bytes=0, buffer_bytes=5 * 1106, retransmit_timeout_ps=MS)
    finish = [int(each.window()["completed_finish_ps"].max()) for each in (fast, slow)]
    assert min(counts(fast)["trimmed"], counts(slow)["data_dropped"]) > 0
    header = 6 * PACKET + WAY + 2 * HEADER + BACK
    assert finish[0] <= header + 5 * PACKET + WAY + 2 * PACKET + BACK
    assert finish[1] > finish[0]


def test_headers_that_find_no_room_are_dropped() -> None:
    simulation = burst(400, trim_bytes=1106, buffer_bytes=2300, retransmit_timeout_ps=MS)
    counted = counts(simulation)
    assert min(counted["data_dropped"], counted["trimmed"]) > 0
    assert simulation.conservation()["holds"]


def test_headers_do_not_starve_packets() -> None:
    """Hosts that send whole windows again at once make more headers than the link carries."""
    scenario = Scenario("crowd", 64, 1, tuple(Flow(host, 0, 0) for host in range(64)))
    network = Network(trim_bytes=100_000, transport="selective-repeat")
    simulation = Simulation(scenario, baselines.by_name("dcqcn"), seed=1, network=network)
    simulation.run(MS)
    simulation.reset_window()
    simulation.run(3 * MS)
    headers = 10 * 84 / (10 * 84 + 1106)
    assert counts(simulation)["data_arrived"] * PACKET / (2 * MS) == pytest.approx(1 - headers, rel=0.01)


@given(
    hosts=st.integers(2, 6),
    packets=st.sampled_from([1, 17, 300, 900]),
    name=st.sampled_from(NAMES),
    trim=st.sampled_from([1, 5_000, 30_000]),
    buffer=st.sampled_from([40_000, 200_000]),
    classes=st.booleans(),
    reorder=st.sampled_from([0, 3, 4096]),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=examples(25), deadline=None)
def test_whatever_is_trimmed_is_repeated_once(
    steering, hosts, packets, name, trim, buffer, classes, reorder, seed
) -> None:
    network = Network(
        transport="selective-repeat",
        trim_bytes=trim,
        buffer_bytes=buffer,
        class_weights=(1, 2) if classes else (1,),
        reorder_packets=reorder,
    )
    scenario = Scenario("drawn", hosts, 1, tuple(Flow(host, 0, packets) for host in range(hosts)))
    policy = steering() if name == "policy" else baselines.by_name(name)
    simulation = Simulation(scenario, policy, seed=seed, network=network)
    simulation.run(200 * MS)
    counted, where = counts(simulation), simulation.conservation()
    assert where["holds"]
    assert where["on_uplinks"] == where["at_ports"] == 0
    np.testing.assert_array_equal(simulation.delivered(), packets)
    repeated = counted["data_sent"] - hosts * packets
    assert repeated == counted["data_dropped"] + where["headers_arrived"] or counted["timeouts"] > 0 < repeated
    assert (simulation.window()["completed_flow"].size) == hosts


def fixed_windows(hosts: int, packets: int, seed: int, **network) -> Simulation:
    """Hosts that send to one port for good, each with a window that stays as it is."""
    scenario = Scenario("rivals", hosts, 1, tuple(Flow(host, 0, 0) for host in range(hosts)))
    values = {"transport": "selective-repeat", "trim_bytes": 5_000, **network}
    window = fixed(FLOW_WINDOW, {"window_bytes": 1024 * packets})
    return Simulation(scenario, window, seed=seed, duration_ps=20 * MS, network=Network(**values))


@pytest.mark.parametrize("jitter", [0, 10 * US])
def test_no_flow_starves_where_all_send_at_line_rate(jitter: int) -> None:
    """Their packets come in a fixed order; without an even chance at the full queue some flows deliver nothing."""
    simulation = fixed_windows(4, 400, 2, start_jitter_ps=jitter)
    simulation.run(2 * MS)
    before = simulation.delivered()
    simulation.run(6 * MS)
    assert min(simulation.delivered() - before) > 0.2 * 4 * MS / PACKET / 4
    assert counts(simulation)["timeouts"] == 0


def test_a_packet_that_takes_the_place_of_a_trimmed_one_is_marked(constant) -> None:
    """All packets here find a queue beyond the marking threshold."""
    scenario = Scenario("rivals", 4, 1, tuple(Flow(host, 0, 0) for host in range(4)))
    network = Network(transport="selective-repeat", trim_bytes=5_000, ecn_min_bytes=0, ecn_max_bytes=0)
    simulation = Simulation(scenario, constant(), seed=1, network=network)
    simulation.run(MS)
    simulation.reset_window()
    simulation.run(2 * MS)
    counted = counts(simulation)
    assert counted["trimmed"] > counted["marked"] == counted["data_arrived"] > 0.7 * MS / PACKET


def test_trims_of_later_packets_do_not_hold_the_timer_of_a_lost_one() -> None:
    """Headers are dropped too, and trims never cease: the flow goes on a timeout and a few RTTs later."""
    timeout, step, steps = 50 * US, 10 * US, 400
    simulation = fixed_windows(4, 60, 1, buffer_bytes=6_000, retransmit_timeout_ps=timeout)
    delivered = np.empty((steps, 4), dtype=np.int64)
    for row in range(steps):
        simulation.run((row + 1) * step)
        delivered[row] = simulation.delivered()
    assert min(counts(simulation)[name] for name in ("data_dropped", "timeouts", "trimmed")) > 10
    waits = [np.diff(np.flatnonzero(np.diff(own, prepend=-1) > 0)).max() * step for own in delivered.T]
    assert max(waits) < 5 * timeout


@pytest.mark.parametrize("seed", [1, 2])
def test_a_repeat_after_a_trim_is_forgotten_with_its_acknowledgement(seed: int) -> None:
    """A sender has a place for each of 4096 packets. A link drops packets in places that held repeats a round before:
    gaps tell of their loss, and no timer."""
    flows = (Flow(0, 2, 9_000), Flow(1, 2, 700))
    fabric = read("many-to-one:2@leaf-spine:2x2x1").scenario(0, MS, Network()).topology
    begin, end = 450, 600
    network = Network(
        transport="selective-repeat",
        trim_bytes=5_000,
        start_jitter_ps=0,
        failures=tuple(Failure("leaf0-spine0", at * US, US) for at in range(begin, end, 15)),
        reroute_ps=100 * MS,
    )
    window = fixed(FLOW_WINDOW, {"window_bytes": 1024 * 150})
    simulation = Simulation(
        Scenario("round", 4, 4, flows, topology=fabric), window, seed=seed, duration_ps=MS, network=network
    )
    simulation.run(100 * US)
    repeated = simulation.delivered()[0]
    simulation.run(begin * US)
    assert simulation.delivered()[0] < 4_096 + repeated
    assert simulation.conservation()["headers_arrived"] > 700
    simulation.run(4 * MS)
    counted = counts(simulation)
    assert simulation.delivered().tolist() == [9_000, 700]
    assert counted["data_dropped"] > 200
    assert counted["timeouts"] == 0


FABRIC = "incast:8x300KB@leaf-spine:4x4x2"


@given(
    link=st.sampled_from(["leaf0-spine1", "spine0-leaf3"]),
    name=st.sampled_from(NAMES),
    values=st.sampled_from([1, 2, 64]),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=10, deadline=None)
def test_trimmed_and_spread_packets_survive_a_link(steering, link, name, values, seed) -> None:
    network = Network(
        transport="selective-repeat",
        entropy_values=values,
        trim_bytes=50_000,
        reorder_packets=512,
        failures=(Failure(link, 50 * US, 100 * US),),
        reroute_ps=50 * US,
    )
    policy = steering() if name == "policy" else baselines.by_name(name)
    simulation = Simulation(FABRIC, policy, seed=seed, network=network)
    simulation.run(9 * MS)
    assert simulation.conservation()["holds"]
    assert (simulation.delivered() == simulation.scenario.column("packets")).all()


def shares(seed: int = 2, **network) -> tuple[float, ...]:
    """Packets of one flow over each of eight spines, as shares."""
    scenario = "many-to-one:1@leaf-spine:2x1x8"
    values = {"transport": "selective-repeat", "reorder_packets": 4096, **network}
    simulation = Simulation(scenario, baselines.by_name("nscc"), seed=seed, network=Network(**values))
    simulation.run(2 * MS)
    sent = simulation.ports()["sent_bytes"]
    leaf = [
        number for number, port in enumerate(simulation.scenario.topology.ports) if port.switch == 1 and port.to >= 0
    ]
    return tuple(sent[leaf] / sent[leaf].sum())


def test_entropy_values_spread_a_flow() -> None:
    one, two = (sorted(shares(entropy_values=values)) for values in (1, 2))
    many = shares(entropy_values=4096)
    assert sorted(shares()) == one == [0] * 7 + [1]
    assert two[:6] == [0] * 6
    assert two[6] == pytest.approx(0.5, abs=0.05)
    assert many == pytest.approx((0.125,) * 8, abs=0.02)


def test_the_seed_draws_the_paths_of_entropy_values() -> None:
    paths = {tuple(np.flatnonzero(shares(seed, entropy_values=2, start_jitter_ps=0))) for seed in range(6)}
    assert len(paths) > 3


def test_the_seed_draws_the_entropy_values() -> None:
    drawn = set()
    for seed in range(4):
        window = fixed(FLOW_WINDOW, {"window_bytes": 8 * 1024})
        network = Network(entropy_values=64, start_jitter_ps=0)
        simulation = Simulation("many-to-one:1", window, seed=seed, record=True, duration_ps=MS, network=network)
        simulation.run(20 * US)
        drawn.add(tuple(simulation.drain_records()["path_id"][:8]))
    assert len(drawn) == 4


REFUSED = {
    "go back N": ({"trim": "50 KB"}, "selective-repeat"),
    "lossless": ({"trim": "50 KB", "lossless": True, "transport": "selective-repeat"}, "lossy"),
    "buffer": ({"trim": "50 KB", "buffer": "40 KB"}, "buffer"),
    "both": ({"spray": True, "entropy_values": 4}, "entropy_values"),
    "values": ({"entropy_values": 65537}, "65536"),
    "share": ({"entropy_values": 0.5}, "entropy_values"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_networks_that_cannot_be_are_refused(name: str) -> None:
    table, said = REFUSED[name]
    with pytest.raises(InputError, match=said):
        Simulation("many-to-one:2", baselines.by_name("dctcp"), seed=1, network=from_table(table, "net.toml"))


@pytest.mark.parametrize("name", ["hpcc", "max-min"])
def test_those_that_know_one_path_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="entropy_values"):
        Simulation(FABRIC, baselines.by_name(name), seed=1, network=Network(entropy_values=4))

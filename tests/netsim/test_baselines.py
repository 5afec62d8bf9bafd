"""Baselines by name and from files: what the presets say, and one sentence for what is wrong."""

import pickle
import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from netsim import _core, assembly, baselines, simulate
from netsim.baselines import NetworkFacts, absolute
from netsim.network import MS, Network
from netsim.simulation import Simulation

NAMES = [
    "cubic",
    "dcqcn",
    "dcqcn-hpcc",
    "dcqcn-hpcc-marking",
    "dcqcn-original",
    "dctcp",
    "dctcp-1g",
    "dctcp-hpcc-marking",
]
NAMES += ["hpcc", "hpcc-artefact", "hpcc-max-stage-5", "max-min", "nscc", "nscc-flow", "powertcp"]
NAMES += ["swift", "swift-htsim", "timely"]
FACTS = NetworkFacts(link_gbps=100, base_rtt_ps=8_192_000, buffer_bytes=5 * 2**20)


def test_names() -> None:
    assert baselines.names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_presets(name: str) -> None:
    spec = baselines.by_name(name)
    assert spec.name == name
    assert spec.needs_int == name.startswith(("hpcc", "powertcp"))
    assert (spec.cnp_interval_ps is not None) == name.startswith("dcqcn")
    assert (spec.ecn is not None) == name.startswith(("dc", "nscc"))
    built = spec.at(FACTS).build(3, 100)
    assert built is None if name == "max-min" else isinstance(built, _core.Baseline)
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert type(spec).model_validate_json(spec.model_dump_json()) == spec


@pytest.mark.parametrize("name", NAMES)
def test_every_value_of_a_preset_has_its_source(name: str) -> None:
    """A comment on the line, or one for the whole file or table."""
    text = (baselines.PARAMETERS / f"{name}.toml").read_text()
    assert text.startswith("# ")
    for table in text.split("\n["):
        assert "#" in table.split("\n", 1)[0], f"{name}: the table {table.split(']')[0]} has no source"


def test_rates_scale_with_the_nic() -> None:
    """HPCC's artefact: AI B/5 and HAI 2B Mb/s, Kmin 4B and Kmax 16B KB at B Gb/s."""
    spec = baselines.by_name("dcqcn-hpcc")
    assert isinstance(spec, baselines.DcqcnSpec)
    for gbps in (25, 100, 400):
        assert spec.additive_step.at(gbps) * gbps * 1000 == pytest.approx(gbps / 5)
        assert spec.hyper_step.at(gbps) * gbps * 1000 == pytest.approx(2 * gbps)
        assert spec.rate_min.at(gbps) * gbps == pytest.approx(1)
        assert spec.ecn is not None
        at = spec.ecn.at(replace(FACTS, link_gbps=gbps))
        assert (at.kmin, at.kmax, at.pmax, at.marking) == (4000 * gbps, 16000 * gbps, 0.2, "dequeue")
    dctcp = baselines.by_name("dctcp-hpcc-marking").ecn
    assert dctcp is not None
    at = dctcp.at(replace(FACTS, link_gbps=10))
    assert (at.kmin, at.kmax) == (30_000, 30_000)


def test_policies_of_queues_keep_the_senders_that_they_were_trained_with() -> None:
    """Their recipes name a preset whose marking does not scale with the base RTT or the buffer."""
    named = []
    for path in Path("recipes").glob("*.toml"):
        recipe = tomllib.loads(path.read_text())
        agents = recipe.pop("agents", {})
        named += [table["senders"] for table in recipe.values() if isinstance(table, dict) and "senders" in table]
        named += [agent["baseline"] for agent in agents.values() if "baseline" in agent]
    assert set(named) == {"dcqcn-hpcc-marking", "dctcp-1g"}
    spec = baselines.by_name("dcqcn-hpcc-marking")
    for facts in (FACTS, NetworkFacts(100, 100_000_000, 10**5)):
        ecn = spec.at(facts).ecn
        assert ecn is not None
        assert (ecn.kmin, ecn.kmax, ecn.pmax, ecn.marking) == (400_000, 1_600_000, 0.2, "dequeue")


@given(
    gbps=st.sampled_from([1, 10, 25, 100, 400, 800]),
    rtt_ps=st.integers(1_025_000, 10**9),
    buffer_bytes=st.integers(2**16, 2**28),
)
def test_what_scales_is_told_the_network(gbps: int, rtt_ps: int, buffer_bytes: int) -> None:
    """Targets by base RTTs, marking by BDPs and no deeper than a share of the buffer."""
    facts = NetworkFacts(gbps, rtt_ps, buffer_bytes)
    bdp = gbps * rtt_ps / 8000
    swift, dctcp, dcqcn, nscc = (baselines.by_name(n).at(facts) for n in ("swift", "dctcp", "dcqcn", "nscc"))
    assert isinstance(swift, baselines.SwiftSpec)
    assert isinstance(nscc, baselines.NsccSpec)
    assert swift.base_target == pytest.approx(1.4 * rtt_ps, abs=1)
    assert swift.scaling_range == pytest.approx(5 * 1.4 * rtt_ps, abs=1)
    assert nscc.network_rtt == rtt_ps
    assert dctcp.ecn is not None
    assert dcqcn.ecn is not None
    assert dctcp.ecn.kmin == dctcp.ecn.kmax == pytest.approx(0.78 * bdp, abs=1)
    assert dcqcn.ecn.kmax == pytest.approx(min(2 * bdp, buffer_bytes / 8), abs=1)
    assert dcqcn.ecn.kmin == pytest.approx(absolute(dcqcn.ecn.kmax) * 0.014, abs=1)
    assert swift.at(facts) == swift
    assert dcqcn.at(facts) == dcqcn


def test_what_scales_is_not_built_without_a_network() -> None:
    with pytest.raises(InputError, match=r"1\.4 RTT .*network"):
        baselines.by_name("swift").build(1, 100)


@pytest.mark.parametrize("scenario", ["many-to-one:4", "many-to-one:4@leaf-spine:2x4x2", "many-to-one:4@fat-tree:4:25"])
def test_a_simulation_tells_it_the_fabrics_longest_base_rtt(scenario: str) -> None:
    network = Network(base_rtt_ps=30_000_000, one_way_ps=15_000_000)
    run = Simulation(scenario, baselines.by_name("dctcp"), seed=1, network=network)
    fabric, net = assembly.place(run.scenario, network)
    assert fabric.base_rtt_ps == 30_000_000 or "@" in scenario
    facts = NetworkFacts(net.link_gbps, fabric.base_rtt_ps, net.buffer_bytes)
    assert run.network.ecn_max_bytes == round(Fraction(78, 100) * facts.bdp_bytes)


@pytest.mark.parametrize(("name", "goodput"), [("swift", 0.92), ("swift-htsim", 0.1)])
def test_a_target_in_base_rtts_does_not_starve_far_away(name: str, goodput: float) -> None:
    """An absolute target is below a base RTT of 100 us."""
    network = Network(base_rtt_ps=100_000_000, one_way_ps=48_828_125)
    window = (10 * MS, 30 * MS)
    spec = baselines.by_name(name)
    found = simulate("many-to-one:8", spec, seed=1, duration_ps=30 * MS, window_ps=window, network=network)
    assert (found.metrics["goodput"] > 0.5) == (goodput > 0.5)
    assert found.metrics["goodput"] >= goodput or goodput < 0.5


def test_nscc_by_the_networks_base_rtt() -> None:
    """The target of a flow with a short path, in a network with long ones: marked packets 10 us late are below it."""
    short = 5_000_000
    windows = {}
    for name in ("nscc", "nscc-flow"):
        machine = baselines.by_name(name).at(replace(FACTS, base_rtt_ps=20_000_000)).build(1, 100)
        first = machine.start(0, 0, short)
        for number in range(400):
            last = machine.on_ack(0, (number + 1) * 100_000, short + 10_000_000, number, number + 60, marked=True)
        windows[name] = (first[1], last[1])
    assert windows["nscc"][1] >= windows["nscc"][0] == windows["nscc-flow"][0] > windows["nscc-flow"][1]


def changed(tmp_path: Path, name: str, old: str, new: str) -> Path:
    text = (baselines.PARAMETERS / f"{name}.toml").read_text()
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new))
    return path


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = changed(tmp_path, "hpcc", "eta = 0.99", "eta = 0.9")
    spec = baselines.load(path)
    assert isinstance(spec, baselines.HpccSpec)
    assert spec.eta == 0.9
    assert spec.build(1, 100) is not None


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"),
    [
        ("hpcc", "eta = 0.99", "etta = 0.99", "(eta: .*missing|etta: no)"),
        ("hpcc", "eta = 0.99", "eta = 1.5", "eta: .*less than .*1"),
        ("hpcc", "eta = 0.99", "eta = nan", r"eta: "),
        ("hpcc", "eta = 0.99", 'eta = "95 %"', r"eta: .*number"),
        ("hpcc", 'kind = "hpcc"', 'kind = "bbr"', "'bbr' .*'swift'"),
        ("hpcc", 'kind = "hpcc"', "", "kind .*dcqcn, hpcc"),
        ("hpcc", 'name = "hpcc"', 'name = "HPCC!"', r"name: "),
        ("hpcc", "burst_packets = 1 ", "burst_packets = 99 ", r"burst_packets: "),
        ("hpcc", '"400 ppm"', '"400"', "additive_step: '400' .*unit"),
        ("hpcc", '"400 ppm"', '"400 furlongs"', r"additive_step: .* has the unit 'furlongs'"),
        ("hpcc", '"400 ppm"', '"101 %"', "additive_step: '101 %' .*0 .*line rate"),
        ("hpcc", '"400 ppm"', "400", r"additive_step: 400 has no unit"),
        ("dcqcn", '"1 us" ', '"1 ns" ', "alpha_period: .*10 and 1000000000 ns"),
        (
            "dcqcn",
            'r_period = "4 us"',
            'r_period = "9 ms"',
            "monitor_period: .*10 .* ns, .*0",
        ),
        ("dcqcn", '"32767 B"', '"1 B"', r"byte_reset: must lie between 1000"),
        ("dcqcn-hpcc-marking", "kmin = ", 'kmin = "2 MB"\n# ', "ecn: kmin .*kmax"),
        ("dcqcn", 'cnp_interval = "4 us" ', "", "DCQCN .*CNPs"),
        ("dcqcn", '"dequeue"', '"sometimes"', r"ecn\.marking: "),
        ("dcqcn-hpcc-marking", 'link = "100 Gb/s"', 'link = "1 Mb/s"', "ecn: link .*between"),
        ("swift", 'acknowledge = "packet"', 'acknowledge = "message"', r"acknowledge: "),
        ("hpcc", 'acknowledge = "packet"', 'acknowledge = "message"', r"acknowledge: "),
        ("swift", "window_min = 0.001", "window_min = 2000", "window_min .*window_max"),
        ("swift", "scaling_window_max = 100", "scaling_window_max = 0.1", r"scaling_window_min must be less"),
        ("timely", '"500 us"', '"5 us"', "low .*more .*high"),
        ("nscc", 'acknowledge = "packet"', 'acknowledge = "message"', r"acknowledge: "),
        ("nscc", "quick_share = 0.125", "quick_share = 1", r"quick_share: .*less than 1"),
        ("nscc", '"150 KB"', '"0 B"', r"reference_bdp: must lie between 1"),
        ("nscc", '"1 RTT"', '"1 BDP"', r"network_rtt: .*'BDP'"),
        ("swift", '"1.4 RTT"', '"0 RTT"', r"base_target: .*1000 RTT"),
        ("swift", '"1.4 RTT"', '"2000 RTT"', r"base_target: .*1000 RTT"),
        ("dctcp", 'kmin = "0.78 BDP"', 'kmin = "80 KB"', r"ecn: kmin .*both"),
        ("dctcp", 'kmin = "0.78 BDP"', 'kmin = "0.79 BDP"', r"ecn: kmin .*kmax"),
        ("dctcp", 'kmin = "0.78 BDP"', 'link = "100 Gb/s"\nkmin = "0.78 BDP"', r"ecn: link .*bytes"),
        ("dcqcn-hpcc-marking", 'link = "100 Gb/s"', "", r"ecn: link .*bytes"),
        ("dcqcn", "buffer_share = 0.125", "buffer_share = 0", r"ecn\.buffer_share: "),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, name: str, old: str, new: str, sentence: str) -> None:
    path = changed(tmp_path, name, old, new)
    with pytest.raises(InputError, match=sentence) as error:
        baselines.load(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["dctcp", "nscc"])
def test_who_hears_of_marks_needs_them(tmp_path: Path, name: str) -> None:
    text = (baselines.PARAMETERS / f"{name}.toml").read_text()
    (tmp_path / "x.toml").write_text(text.split("[ecn]")[0])
    with pytest.raises(InputError, match=f"{name.upper()} .*ECN marks"):
        baselines.load(tmp_path / "x.toml")


def test_unknown_name() -> None:
    with pytest.raises(InputError, match=r"'bbr'; .*dcqcn, .*, timely"):
        baselines.by_name("bbr")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        baselines.load(tmp_path / "none.toml")


def test_a_floor_above_the_nic(tmp_path: Path) -> None:
    spec = baselines.load(changed(tmp_path, "hpcc", '"1 Mb/s"', '"200 Gb/s"'))
    with pytest.raises(InputError, match=r"rate_min 200 Gb/s .*100 Gb/s"):
        spec.build(1, 100)


def test_presets_are_plain_toml() -> None:
    for name in NAMES:
        assert tomllib.loads((baselines.PARAMETERS / f"{name}.toml").read_text())["name"] == name

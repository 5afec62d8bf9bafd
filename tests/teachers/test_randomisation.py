"""Networks drawn at random: within their ranges, possible, told to the flows, and the same for the same seed."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from reproducible import examples

from decision.devices import FOLDER, load_device
from netsim import Network, Simulation, assembly
from netsim.devices import on_device
from netsim.network import MS, US
from netsim.policies import native
from rlcc import cli
from teachers.checkpoint import recipe_hash
from teachers.curriculum import load_recipe
from teachers.randomisation import NO_RANDOMISATION, Randomisation, draw, first_rates, with_base_rtt

RECIPE = Path(__file__).parents[2] / "recipes" / "train-rl-cc-devices.toml"
EVERYTHING = Randomisation.model_validate(
    {
        "link_gbps": [25, 100, 400],
        "base_rtt": ["4 us", "50 us"],
        "buffer": ["1 MiB", "16 MiB"],
        "payload_bytes": [1024, 4096],
        "burst_packets": [1, 4, 16],
        "decision_latency": ["500 ns", "20 us"],
        "decision_loss": [0.05, 0.35],
        "decision_late": [0.05, 0.35],
        "decision_late_by": "30 us",
        "rtt_noise": ["100 ns", "2 us"],
    }
)


def test_nothing_drawn_is_the_default() -> None:
    around = draw("many-to-one:4", NO_RANDOMISATION, np.random.default_rng(1), 1, MS)
    assert (around.scenario, around.network, around.decision_latency_ps) == ("many-to-one:4", Network(), 900_000)


@settings(max_examples=examples(50), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["many-to-one:4", "incast:4", "many-to-one:8@fat-tree:4:25"]))
def test_every_draw_is_a_network_that_can_be_run(seed: int, name: str) -> None:
    one, two = (draw(name, EVERYTHING, np.random.default_rng(seed), seed, 5 * MS) for _ in range(2))
    assert one == two
    net = one.network
    assert net.link_gbps in (25, 100, 400)
    assert net.payload_bytes in (1024, 4096)
    assert net.burst_packets in (1, 4, 16)
    assert 2**20 <= net.buffer_bytes <= 2**24
    assert 4 * US <= net.base_rtt_ps <= 50 * US
    assert 0.05 <= net.decision_loss <= 0.35
    assert 0.05 <= net.decision_late <= 0.35
    assert 100_000 <= net.rtt_noise_ps <= 2 * US
    assert 500_000 <= one.decision_latency_ps <= 20 * US
    assert not isinstance(one.scenario, str)
    fabric, _ = assembly.place(one.scenario, net)
    if "fat-tree" not in name:
        assert (fabric.host_gbps, fabric.base_rtt_ps) == (net.link_gbps, net.base_rtt_ps)


def test_two_draws_differ() -> None:
    random = np.random.default_rng(3)
    assert draw("many-to-one:4", EVERYTHING, random, 3, MS) != draw("many-to-one:4", EVERYTHING, random, 3, MS)


def test_flows_are_told_of_the_base_rtt_that_was_drawn(make_policy) -> None:
    """At its fixed point a policy that knows its base RTT sees no congestion, wherever it is."""
    policy = make_policy(hidden=[2])
    weights = {"fc0.weight": np.zeros((2, 4), np.float32), "out.weight": np.zeros((1, 2), np.float32)}
    what = Randomisation.model_validate({"base_rtt": ["40 us", "40 us"]})
    around = draw("many-to-one:1", what, np.random.default_rng(0), 1, MS)
    run = Simulation(around.scenario, native(policy, weights), seed=1, network=around.network,
                     starts_q30=np.array([2**20], np.uint32))  # fmt: skip
    run.run(2 * MS)
    congestion = run.observations()[0, 1]
    assert congestion == pytest.approx(-12.5 * 0.064)  # inflation 1 is below beta: delta is the target


def test_packets_that_take_long_ask_for_a_longer_base_rtt() -> None:
    slow = with_base_rtt(Network(link_gbps=25, payload_bytes=4096), 4 * US)
    assert slow.base_rtt_ps > 4 * US
    assert min(slow.uplink_delay_ps, slow.downlink_delay_ps, slow.control_delay_ps) > 0


def test_first_rates_are_even_on_a_logarithmic_scale() -> None:
    rates = first_rates((2**17, 2**30), 10_000, np.random.default_rng(1))
    assert rates.dtype == np.uint32
    assert rates.min() >= 2**17
    assert rates.max() <= 2**30
    share, _ = np.histogram(np.log2(rates), bins=13, range=(17, 30))
    assert np.abs(share / 10_000 - 1 / 13).max() < 0.01


CARDS = ["ideal", "bluefield3:1", "bluefield3:4", "bluefield3"]


@settings(max_examples=examples(30), deadline=None)
@given(st.integers(0, 2**32))
def test_a_drawn_device_is_added_to_what_is_drawn_without_it(seed: int) -> None:
    """The same draws in front of it, so that a recipe without devices draws as before."""
    without, one, two = (
        draw("many-to-one:2x16", what, np.random.default_rng(seed), seed, 5 * MS)
        for what in (EVERYTHING, *[EVERYTHING.model_copy(update={"devices": CARDS})] * 2)
    )
    assert one == two
    assert (one.scenario, one.decision_latency_ps) == (without.scenario, without.decision_latency_ps)
    assert one.network in [on_device(without.network, card) for card in CARDS]


def test_each_device_is_drawn_and_adds_its_contexts_jitter_and_losses() -> None:
    what = Randomisation(devices=CARDS, decision_loss=(0.01, 0.05))
    drawn = [draw("many-to-one:2x16", what, np.random.default_rng(seed), seed, MS).network for seed in range(40)]
    assert {(one.context_flows, one.rtt_noise_ps > 0) for one in drawn} == {
        (1, False),
        (1, True),
        (4, True),
        (16, True),
    }
    assert all(0.01 <= one.decision_loss <= 0.05 for one in drawn)


REFUSED_DEVICES = {
    "unknown": (["bluefield9"], "bluefield9"),
    "number": (["bluefield3:0"], "bluefield3:0"),
    "none": ([], "devices"),
    "ragged": (["ideal", "bluefield3:3"], "16 flows"),
}


@pytest.mark.parametrize("name", REFUSED_DEVICES)
def test_devices_that_do_not_fit_are_refused_before_training(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where only a later episode would draw one."""
    devices, said = REFUSED_DEVICES[name]
    recipe = re.sub(r"^devices = .*$", f"devices = {json.dumps(devices)}", RECIPE.read_text(), flags=re.MULTILINE)
    (tmp_path / "recipe.toml").write_text(recipe)
    out = tmp_path / "out"
    assert cli.main(["train", str(tmp_path / "recipe.toml"), "--out", str(out)]) == 2
    sentence = capsys.readouterr().err
    assert said in sentence
    assert len(sentence.strip().splitlines()) == 1
    assert not out.exists()


def test_a_training_belongs_to_the_content_of_its_devices(tmp_path: Path) -> None:
    """The name alone does not tell them; comments are no content."""

    def hashed(text: str, name: str) -> str:
        (tmp_path / name).write_text(text)
        devices = json.dumps([f"{tmp_path / name}:4"])
        recipe = re.sub(r"^devices = .*$", f"devices = {devices}", RECIPE.read_text(), flags=re.MULTILINE)
        (tmp_path / "recipe.toml").write_text(recipe)
        return recipe_hash(load_recipe(tmp_path / "recipe.toml"))

    card = (FOLDER / "bluefield3.toml").read_text()
    offset = next(value for name, value in load_device("bluefield3").facts() if name == "rates.offset").value
    first = hashed(card, "card.toml")
    assert hashed(f"# a comment\n{card}", "card.toml") == first
    other = card.replace(f"value = {offset}", f"value = {offset / 2}")
    assert other != card
    assert hashed(other, "card.toml") != first


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_rtt": ["50 us", "4 us"]},
        {"base_rtt": [4, 50]},
        {"decision_loss": [0.1, 1.0]},
        {"link_gbps": []},
        {"jitter": 1},
    ],
)
def test_refused(wrong: dict) -> None:
    with pytest.raises(ValidationError):
        Randomisation.model_validate(wrong)

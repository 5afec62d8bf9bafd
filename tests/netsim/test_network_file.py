"""A network from a TOML file."""

from dataclasses import fields
from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from netsim import Network, network_file


def test_units_are_read_and_the_rest_stays(tmp_path: Path) -> None:
    file = tmp_path / "network.toml"
    file.write_text(
        'link = "400 Gb/s"\nbuffer = "32 MiB"\nprobe_gap = "2 us"\nlossless = true\nclass_weights = [0, 3]\n'
        "ecn_max_probability = 0.5\n"
    )
    assert network_file.load(file) == Network(
        link_gbps=400,
        buffer_bytes=32 * 2**20,
        probe_gap_ps=2_000_000,
        lossless=True,
        class_weights=(0, 3),
        ecn_max_probability=0.5,
    )
    file.write_text("")
    assert network_file.load(file) == Network()


def test_every_field_has_a_key() -> None:
    assert {name for name, _ in network_file.KEYS.values()} == {field.name for field in fields(Network)}
    assert len(network_file.KEYS) == len(fields(Network))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour = 1", "unknown key colour"),
        ('buffer = "5 apples"', "buffer"),
        ('buffer = "1 KB"', "2 packets"),
        ('link = "1.5 Gb/s"', "whole number .*Gb/s"),
        ('link = "33 Gb/s"', "whole picoseconds"),
        ("lossless = 1", "true or false"),
        ("class_weights = []", "class_weights"),
        ("class_weights = 3", "class_weights"),
        ("ecn_max_probability = true", "must .*number"),
        ("buffer_bytes = 3", "unknown key buffer_bytes"),
        ("= 3", "not valid TOML"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "network.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as told:
        network_file.load(file)
    assert str(file) in str(told.value)
    assert "\n" not in str(told.value)

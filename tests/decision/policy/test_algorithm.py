"""A hand-written algorithm's document: what it takes, what it refuses, and that a firmware folder holds the same."""

from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from decision.policy.algorithm import NAME, Algorithm, load_algorithm, read_algorithm

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = ROOT / "docs" / "window" / "nscc.toml"


def test_the_shipped_document_comes_to_the_source_s_numbers() -> None:
    """[UEC]'s steps on a path of 150 KB: 4, 5 and 0.15 packets an RTT, the target a base RTT, the window 1.5 BDP."""
    params = load_algorithm(SHIPPED).params()
    assert params["fair_bytes"] == 5 * 4096
    assert params["steady_bytes"] == round(0.15 * 4096)
    assert params["room_gain_q24"] == round(4 * 4096 / 12_000 * 2**24)
    assert params["fast_share_q24"] == 2**22
    assert (params["window_max_bytes"], params["quick_gate_bytes"]) == (225_000, 28_125)
    assert (params["path_rtt_ns"], params["target_delay_ns"], params["quick_delay_ns"]) == (12_000, 12_000, 48_000)


def test_a_firmware_folder_holds_the_same_document(tmp_path: Path) -> None:
    algorithm = load_algorithm(SHIPPED)
    algorithm.save(tmp_path)
    assert read_algorithm((tmp_path / NAME).read_bytes(), NAME) == algorithm


@pytest.mark.parametrize(
    ("line", "instead", "word"),
    [
        ('mtu = "4096 B"', 'mtu = "32 B"', "mtu"),
        ('mtu = "4096 B"', "mtu = 4096", "mtu"),
        ('base_rtt = "12 us"', 'base_rtt = "0 us"', "base_rtt"),
        ('base_rtt = "12 us"', "", "base_rtt"),
        ('base_rtt = "12 us"', 'base_rtt = "12 s"', "window_max_bytes"),
        ('base_rtt = "12 us"', 'base_rtt = "12 us"\nquick_share = 2', "quick_share"),
        ('base_rtt = "12 us"', 'base_rtt = "12 us"\nwindow_min = 2', "window_min"),
        ('base_rtt = "12 us"', 'base_rtt = "12 us"\nwindow_max = 0.001', "largest window"),
        ('algorithm = "nscc"', 'algorithm = "cubic"', "algorithm"),
        ("format = 1", "format = 2", "format"),
    ],
)
def test_settings_that_are_wrong_are_refused(tmp_path: Path, line: str, instead: str, word: str) -> None:
    text = SHIPPED.read_text()
    assert line in text
    path = tmp_path / "wrong.toml"
    path.write_text(text.replace(line, instead))
    with pytest.raises(InputError, match=word):
        load_algorithm(path)


def test_its_keys_are_steps_of_the_algorithm_or_of_the_network() -> None:
    settings = set(Algorithm.model_fields) - {"format", "name", "algorithm", "mtu", "line_rate", "base_rtt"}
    assert all(Algorithm.model_fields[name].default is not None for name in settings)
    assert len(settings) == 9

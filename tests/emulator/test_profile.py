"""Engine profiles: those that come with rlcc load; what is wrong in a file is told in one sentence."""

from pathlib import Path

import pytest

from emulator import load_profile, profile_names
from spec.errors import InputError

SMALL = Path(__file__).parents[2] / "emulator" / "profiles" / "ibex-small.toml"


def test_every_shipped_profile_loads_under_its_own_name() -> None:
    assert {"ibex-small", "ibex-maxperf"} <= set(profile_names())
    for name in profile_names():
        profile = load_profile(name)
        assert profile.name == name
        assert profile.microseconds(profile.clock.mhz) == 1.0


def test_a_path_gives_the_same_profile_as_the_name() -> None:
    assert load_profile(SMALL).hash() == load_profile("ibex-small").hash()
    assert load_profile("ibex-maxperf").hash() != load_profile("ibex-small").hash()


def test_the_hash_ignores_comments_and_sees_values(tmp_path: Path) -> None:
    path = tmp_path / "copy.toml"
    path.write_text("# another comment\n" + SMALL.read_text())
    assert load_profile(path).hash() == load_profile(SMALL).hash()
    path.write_text(SMALL.read_text().replace("mhz = 330", "mhz = 331"))
    assert load_profile(path).hash() != load_profile(SMALL).hash()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("mhz = 330", "mhz = 330\nvolts = 1", "clock.volts: no such key"),
        ("mhz = 330", "mhz = 0", "clock.mhz"),
        ("mhz = 330", 'mhz = "fast"', "clock.mhz"),
        ('reason = """An', '# reason = """An', "clock.reason|TOML"),
        ("wait_states = 0", "wait_states = -1", "instruction_memory.wait_states"),
        ("wait_states = 0", "wait_states = true", "instruction_memory.wait_states"),
        ('kind = "ibex"', 'kind = "cortex-m0"', "core.kind"),
        ('multiplier = "fast"', 'multiplier = "none"', "core: isa = .* contradicts multiplier"),
        ('isa = "rv32im"', 'isa = "rv64gc"', "core.isa"),
        ("writeback_stage = false", "", "core.writeback_stage: is missing"),
        ("stack_bytes = 1024", "stack_bytes = 65536", "must be below data_memory.bytes"),
        ("context_bytes = 120", "context_bytes = 121", "limits.context_bytes"),
        ("[clock]", "[clock", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "bad.toml"
    text = SMALL.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=words) as caught:
        load_profile(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_profile_lists_what_there_is() -> None:
    with pytest.raises(InputError, match=r"choose one of .*ibex-maxperf, .*ibex-small, "):
        load_profile("ibex-huge")
    with pytest.raises(InputError, match="there is no file"):
        load_profile("./nowhere.toml")

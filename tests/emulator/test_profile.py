"""Engine profiles: those that come with rlcc load; what is wrong in a file is told in one sentence."""

from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from emulator.profile import load_profile, profile_names

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
        ("mhz = 330", 'mhz = "330"', "clock.mhz"),
        ("mhz = 330", "mhz = true", "clock.mhz"),
        ('reason = """An', '# reason = """An', "clock.reason|TOML"),
        ("wait_states = 0", "wait_states = -1", "instruction_memory.wait_states"),
        ("wait_states = 0", "wait_states = true", "instruction_memory.wait_states"),
        ('kind = "ibex"', 'kind = "cortex-m0"', "core.kind"),
        ('multiplier = "fast"', 'multiplier = "none"', "core: isa = .* contradicts multiplier"),
        ('isa = "rv32im"', 'isa = "rv64gc"', "core.isa"),
        ("writeback_stage = false", "", "core.writeback_stage: is missing"),
        ("stack_bytes = 1024", "stack_bytes = 65536", "must be below data_memory.bytes"),
        ("context_bytes = 120", "context_bytes = 121", "limits.context_bytes"),
        ("table_bytes = 16384", "table_bytes = 65537", "above data_memory.bytes"),
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
    with pytest.raises(InputError, match=r"ibex-maxperf, .*ibex-small"):
        load_profile("ibex-huge")
    with pytest.raises(InputError, match="no file"):
        load_profile("./nowhere.toml")


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("vexriscv", 'variant = "Lite"', 'variant = "Min"', "contradicts variant = .Min., which has no mul"),
        ("vexriscv", 'variant = "Lite"', 'variant = "Linux"', "core.variant: "),
        (
            "ibex-maxperf-l1",
            "branch_target_alu = true",
            "branch_target_alu = false",
            "without branch_target_alu",
        ),
        ("picorv32", 'multiplier = "fast"', 'multiplier = "single-cycle"', "core.multiplier: "),
        ("picorv32", 'isa = "rv32im"', 'isa = "rv32i"', "core: isa = .rv32i. contradicts multiplier"),
        ("cv32e40p", 'isa = "rv32im"', 'isa = "rv32i"', "core.isa: "),
        ("cv32e40p", 'kind = "cv32e40p"', 'kind = "ibex"', "core.multiplier: is missing"),
        ("ibex-maxperf-l1", "ways = 4", "ways = 3", "instruction_memory.cache: 1024 bytes in 3 ways"),
        ("ibex-maxperf-l1", "miss_cycles = 154", "miss_cycles = 0", "instruction_memory.cache.miss_cycles"),
        ("ibex-maxperf-l1", "wait_states = 0", "wait_states = 2", "a memory behind a cache has wait_states = 0"),
        ("ibex-small", "code_bytes = 16384", "code_bytes = 131072", "limits.code_bytes = 131072 must not be above"),
        ("ibex-small", 'name = "ibex-small"', 'name = "some-proxy"', "ends in"),
    ],
)  # fmt: skip
def test_a_contradiction_is_one_sentence(tmp_path: Path, name: str, old: str, new: str, words: str) -> None:
    text = (SMALL.parent / f"{name}.toml").read_text()
    assert old in text
    path = tmp_path / "bad.toml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=words) as caught:
        load_profile(path)
    assert "\n" not in str(caught.value)

"""Prefixes, identities and layouts: two policies in one image, and live contexts through an update."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from drawing import ACTIONS, FEATURES, make_student

from codegen.emit import emit
from codegen.identity import MAX_PREFIX, check_prefix, field_meanings, layout_id, prefixed
from codegen.lower import Options
from codegen.migration import kept_fields, migration
from codegen.passes.ranks import chains, with_ranks
from decision.artefact.errors import InputError
from decision.artefact.output import writing
from decision.ir.forest import oblivious
from decision.ir.interfaces.flow_rate import flow_interface
from decision.ir.program import Program
from decision.policy.in_flight import in_flight_program
from emulator.build import build
from emulator.compile import toolchain
from emulator.firmware import ENTRY
from emulator.firmware_folder import built, read_firmware
from emulator.host import run_on_host
from emulator.identity import BYTES, identities, identity_of
from emulator.image import build_image
from emulator.objects import check_code
from emulator.run import run_vectors

SEEN = [FEATURES["previous_action"], FEATURES["rl_cc_congestion"]]


def student(threshold: int = 5000, leaf: int = -100, features=SEEN):
    """One tree over the congestion now and at the last decision."""
    names = [f["kind"] for f in features]
    now = names.index("rl_cc_congestion")
    tree = oblivious(((now, threshold), (now + len(features), threshold + 7)), (-3000, leaf, 40, 2000))
    return make_student(features, ACTIONS[0], (tree,), window=2)


def emitted(folder: Path, policy, prefix: str = "rlcc", **options) -> Path:
    with writing(folder / f"{prefix}_student", "student") as work:
        policy.save(work)
    emit(folder / f"{prefix}_student", folder / prefix, target="generic", prefix=prefix, **options)
    return folder / prefix


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An A/B pair: the same policy but for one leaf, under two prefixes."""
    root = tmp_path_factory.mktemp("pair")
    return emitted(root, student(), "nic_a"), emitted(root, student(leaf=-2500), "nic_b")


@pytest.mark.parametrize(
    "prefix", ["", "A", "1a", "a-b", "a b", "_a", "a_", "a__b", "a" * (MAX_PREFIX + 1), "uint32", "doca", "ä"]
)
def test_a_prefix_that_begins_no_name_is_refused(prefix: str) -> None:
    with pytest.raises(InputError, match="prefix"):
        check_prefix(prefix)


def test_a_prefix_replaces_the_first_word_of_names_and_nothing_else() -> None:
    assert (
        prefixed("rlcc_decide(RLCC_PART) rlcc xrlcc_a `rlcc emit`", "ab")
        == "ab_decide(AB_PART) rlcc xrlcc_a `rlcc emit`"
    )
    assert prefixed("`-DRLCC_PORTS=2` -Drlcc_a xDRLCC_a", "ab") == "`-DAB_PORTS=2` -Dab_a xDRLCC_a"
    assert check_prefix("a" * MAX_PREFIX) == "a" * MAX_PREFIX


MAIN = """
#include <stdio.h>
#include "nic_a_policy.h"
#include "nic_b_policy.h"
#include "nic_a_policy.h"
int main(void) {
    const nic_a_params params_a = NIC_A_PARAMS_DEFAULT;
    const nic_b_params params_b = NIC_B_PARAMS_DEFAULT;
    nic_a_flow a = {0};
    nic_b_flow b = {0};
    const nic_a_event event_a = {.response_ns = 90000U};
    const nic_b_event event_b = {.response_ns = 90000U};
    const unsigned first = nic_a_decide(&a, &event_a, &params_a), second = nic_b_decide(&b, &event_b, &params_b);
    printf("%u %u %s %s\\n", first, second, nic_a_policy_identity()->prefix, nic_b_policy_identity()->prefix);
    return 0;
}
"""


def compiled(folder: Path, main: str, sources: list[Path], *flags: str) -> "subprocess.CompletedProcess[str]":
    (folder / "main.c").write_text(main)
    includes = [f"-I{source.parent}" for source in sources]
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", *includes, *flags, str(folder / "main.c")]
    command += [*map(str, sources), "-o", str(folder / "image")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def run(program: Path) -> list[str]:
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()


def test_two_policies_decide_in_one_image_and_say_who_they_are(pair: tuple[Path, Path], tmp_path: Path) -> None:
    sources = [folder / f"{folder.name}_{part}.c" for folder in pair for part in ("policy", "identity")]
    done = compiled(tmp_path, MAIN, sources)
    assert done.returncode == 0, done.stderr
    first, second, *prefixes = subprocess.run(
        [tmp_path / "image"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert first != second
    assert prefixes == ["nic_a", "nic_b"]
    found = identities(tmp_path / "image")
    wanted = [identity_of(read_firmware(folder)) for folder in pair]
    assert [replace(one, offset=0) for one in found] == wanted
    assert len({one.policy for one in found}) == 2
    assert len({one.layout for one in found}) == 1  # the same context: an A/B pair may hand flows over


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy of other features and another form."""
    features = [FEATURES["rl_cc_congestion"], FEATURES["previous_action"], FEATURES["rtt_inflation"]]
    tree = oblivious(((0, 900), (2, 50), (3, 7)), tuple(range(-400, 400, 100)))
    policy = make_student(features, ACTIONS[0], (tree, tree), window=2)
    return emitted(tmp_path_factory.mktemp("other"), policy, "rate_c", options=Options(form="joint"))


@pytest.mark.slow_except("two policies")
@pytest.mark.parametrize("second", ["an A/B pair", "two policies"])
def test_the_policies_of_one_image_run_on_the_core_as_each_does_alone(
    pair: tuple[Path, Path], other: Path, second: str
) -> None:
    tools = toolchain("ibex-small")
    firmwares = [read_firmware(folder) for folder in (pair[0], pair[1] if second == "an A/B pair" else other)]
    together, alone = build_image(firmwares, tools), [build(one, tools) for one in firmwares]
    code = [[section for section in one.image.sections if section.name != ".runner"] for one in together]
    assert code[0] == code[1]  # one image: only whom the runner calls differs
    entries = {one.image.symbols[one.firmware.named(ENTRY)] for one in together}
    assert len(entries) == 2
    assert all(entries <= set(one.image.symbols.values()) for one in together)
    for one, single in zip(together, alone, strict=True):
        report = run_vectors(one)
        assert report.passed
        assert report.to_json() == run_vectors(single).to_json()
    text = {section.name: len(section.data) for section in code[0]}[".text"]
    assert text >= sum(check_code(one.elf, one.firmware.named(ENTRY)).code_bytes for one in together)  # both are in it


def test_an_image_has_each_prefix_once(pair: tuple[Path, Path], tmp_path: Path) -> None:
    again = emitted(tmp_path, student(threshold=7), "nic_a")
    with pytest.raises(InputError, match="prefix nic_a"):
        build_image([read_firmware(folder) for folder in (*pair, again)], toolchain("ibex-small"))


def test_two_policies_of_one_prefix_stop_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one, two = emitted(tmp_path / "one", student()), emitted(tmp_path / "two", student(leaf=1))
    main = f'#include "{one}/rlcc_policy.h"\n#include "{two}/rlcc_policy.h"\nint main(void) {{ return 0; }}\n'
    done = compiled(tmp_path, main, [])
    assert done.returncode != 0
    assert "rlcc_one_policy_of_this_prefix" in done.stderr
    same = f'#include "{one}/rlcc_policy.h"\n' * 2 + "int main(void) { return 0; }\n"
    assert compiled(tmp_path, same, []).returncode == 0
    (tmp_path / "Makefile").write_text(f"include {one}/rlcc_policy.mk\ninclude {two}/rlcc_policy.mk\nall:\n")
    made = subprocess.run(["make", "all"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert made.returncode == 2
    assert "rlcc" in made.stderr


def test_a_prefix_changes_no_byte_of_the_machine_code(pair: tuple[Path, Path], tmp_path: Path) -> None:
    """On the host under sanitizers, on the core, and in the shared library of the simulator."""
    plain = built(emitted(tmp_path, student()), profile="ibex-small")
    other = built(pair[0], profile="ibex-small")
    assert other.image.sections == plain.image.sections
    assert run_vectors(other).mismatches == 0
    assert run_on_host(pair[0]).passed


def test_the_identity_is_no_part_of_the_decision(tmp_path: Path) -> None:
    folder = emitted(tmp_path, student())
    command = ["cc", "-std=c99", "-Os", "-c", f"{folder}/rlcc_identity.c", "-o", str(tmp_path / "identity.o")]
    subprocess.run(command, check=True)
    (found,) = identities(tmp_path / "identity.o")
    assert replace(found, offset=0) == identity_of(read_firmware(folder))
    assert "identity" not in (folder / "rlcc_policy.c").read_text()
    cut = (tmp_path / "identity.o").read_bytes()[: found.offset + BYTES - 1]
    (tmp_path / "cut").write_bytes(cut)
    assert identities(tmp_path / "cut") == []


def ranked(program: Program) -> Program:
    (chain,) = chains(program)
    return with_ranks(program, (chain,))


def test_a_layout_is_what_fields_mean_not_what_trees_decide() -> None:
    plain = student().program()
    assert layout_id(student(leaf=1).program()) == layout_id(plain)
    assert layout_id(student(threshold=6000).program()) == layout_id(plain)  # the congestion itself is kept
    before, after = (ranked(student(threshold=t).program()) for t in (5000, 6000))
    assert [f.storage for f in before.state] == [f.storage for f in after.state]
    assert layout_id(before) != layout_id(after)  # ranks among other thresholds, at the same bytes
    names = [field.name for field in after.state]
    assert kept_fields(before, after) == [n for n in names if not n.endswith("_rank")]
    assert kept_fields(before, before) == [f for f in kept_fields(before, before) if f in names]
    assert set(field_meanings(before)) == {field.name for field in before.state}


def test_a_field_is_kept_only_with_the_fields_that_it_is_copied_from() -> None:
    def program(threshold: int) -> Program:
        tests = tuple((place, threshold + place) for place in (1, 3, 5))  # now, one and two decisions ago
        return ranked(make_student(SEEN, ACTIONS[0], (oblivious(tests, tuple(range(8))),), window=3).program())

    before, after = program(5000), program(6000)
    lagged = "congestion_q20_2_rank"  # written as what congestion_q20_1_rank was
    assert field_meanings(before)[lagged] == field_meanings(after)[lagged]
    assert kept_fields(before, after) == ["rate_q30"]
    assert lagged in kept_fields(before, before)


def test_the_rate_is_reset_where_the_interface_is_another() -> None:
    plain, started = (in_flight_program(flow_interface(chosen)) for chosen in (["in_flight"], ["in_flight", "start"]))
    assert "rate_q30" in kept_fields(plain, plain)
    assert "rate_q30" not in kept_fields(plain, started)


MIGRATE = """
#include <stdio.h>
#include "rlcc_migrate.h"
int main(void) {
    const rlcc_flow_before before = {%s};
    rlcc_flow after = {%s};
    rlcc_migrate(&before, &after);
    printf("%%lx ", (unsigned long)RLCC_MIGRATE_FROM);
    printf("%%u %%u\\n", (unsigned)after.rate_q30, (unsigned)after.congestion_q20_1_rank);
    return 0;
}
"""


def test_live_contexts_are_migrated_or_reset(tmp_path: Path) -> None:
    """The rate goes on; a rank among other thresholds is reset. A header for another policy does not compile."""
    folder = emitted(tmp_path, student(6000), options=Options(form="joint"))
    new = read_firmware(folder).program
    assert any(field.name.endswith("_rank") for field in new.state)
    old = ranked(student(5000).program())
    (tmp_path / "rlcc_migrate.h").write_text(migration(old, new, ("old", "new"), "rlcc"))
    values = ", ".join("7U" if "rate" not in field.name else "4096U" for field in old.state)
    sources = [folder / "rlcc_policy.c"]
    done = compiled(tmp_path, MIGRATE % (values, values.replace("4096", "1")), sources, f"-I{tmp_path}")
    assert done.returncode == 0, done.stderr
    assert run(tmp_path / "image") == [f"{layout_id(old):x}", "4096", "0"]
    other = (tmp_path / "rlcc_migrate.h").read_text().replace(f"{layout_id(new):08X}U) ? 1", "00000001U) ? 1")
    (tmp_path / "rlcc_migrate.h").write_text(other)
    assert (
        "rlcc_migrate_is_for_this_policy"
        in compiled(tmp_path, MIGRATE % (values, values), sources, f"-I{tmp_path}").stderr
    )


def test_contexts_of_one_layout_need_no_migration() -> None:
    program = student().program()
    with pytest.raises(InputError, match=f"{layout_id(program):08x}"):
        migration(program, student(leaf=3).program(), ("a", "b"), "rlcc")

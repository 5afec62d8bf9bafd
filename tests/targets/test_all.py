"""`rlcc emit --target all`: one core, a folder an adapter, and each of them builds from there.

Slow: further students in all targets.
"""

import sys

import pytest

from codegen.differences import differences
from codegen.targets import ALL, TARGETS, misfit, target_named, targets_named
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror")


@pytest.mark.slow_except("rl_cc-left_out0", "acks-left_out4")
@pytest.mark.parametrize(
    ("student", "left_out"),
    [
        ("rl_cc", set()),
        ("counting", {"linux-bpf", "falcon-rue"}),
        ("options", set()),
        ("told", set()),
        ("acks", {"doca-pcc", "falcon-rue"}),
        ("delivered", {"doca-pcc"}),
    ],
)
def test_every_target_that_the_policy_fits_has_its_folder(student, left_out, firmware, host_compiler, run, tmp_path):
    folder = firmware(student, ALL)
    details = opened(folder, "firmware").details
    assert set(details["left_out"]) == left_out
    assert {path.name for path in folder.iterdir() if path.is_dir()} == set(TARGETS) - left_out
    assert "cnp_count" in details["left_out"].get("linux-bpf", "cnp_count")
    assert "acked_bytes" in details["left_out"].get("doca-pcc", "acked_bytes")
    for name in set(TARGETS) - left_out:
        assert (folder / name / "README.md").read_text().startswith("# ")
        for source in (folder / name).glob("*.c"):
            built = run(*host_compiler, *STRICT, "-I", folder, "-c", source, "-o", tmp_path / "object.o")
            assert built.returncode == 0, f"{source}: {built.stderr}"
    assert details["context_limit"] == min(TARGETS[name].context_bytes for name in set(TARGETS) - left_out)
    assert differences(folder) == []
    caps = (
        {"dropped": {name: ["in_flight_bytes"] for name in ("connectx6dx", "doca-pcc")}} if student == "options" else {}
    )
    assert {key: details[key] for key in ("dropped",) if key in details} == caps


def test_the_bpf_adapter_builds_from_its_folder(firmware, run, tmp_path):
    folder = firmware("rl_cc", ALL)
    clang = (sys.executable, "-m", "ziglang", "cc", "-target", "bpfel-freestanding", "-std=c11", "-g", "-O2")
    source = folder / "linux-bpf" / "rlcc_bpf.c"
    built = run(*clang, "-Wall", "-Wextra", "-Werror", "-I", folder, "-c", source, "-o", tmp_path / "rlcc_bpf.o")
    assert built.returncode == 0, built.stderr
    assert "leaves[" not in (folder / "linux-bpf" / "rlcc_policy.c").read_text(), "a table, which BPF does not take"


@pytest.mark.parametrize(
    ("target", "signals", "flow_bytes", "arguments", "reason"),
    [
        ("doca-pcc", {"queue_bytes"}, 12, 1, "queue_bytes, .*doca-pcc"),
        ("linux-bpf", {"cnp_count"}, 12, 1, "cnp_count, .*linux-bpf"),
        ("linux-bpf", {"nack_count", "sent_bytes"}, 88, 1, r"116 bytes \(88 .*, 28 "),
        ("linux-bpf", set(), 96, 1, r"116 bytes \(96 .*, 20 .* 104"),
        ("linux-bpf", set(), 12, 6, "6 features.* 5"),
        ("doca-pcc", {"cnp_count", "sent_bytes"}, 40, 1, r"52 bytes \(40 .*, 12 "),
        ("connectx6dx", {"cnp_count"}, 116, 1, "takes 124 bytes"),
        ("falcon-rue", {"queue_bytes"}, 12, 1, "queue_bytes, .*falcon-rue"),
        ("doca-pcc", {"acked_bytes"}, 12, 1, "acked_bytes, .*doca-pcc"),
        ("doca-pcc", {"marked_bytes"}, 12, 1, "marked_bytes, .*doca-pcc"),
        ("falcon-rue", {"marked_bytes"}, 12, 1, "marked_bytes, .*falcon-rue"),
        ("falcon-rue", {"sent_bytes", "acked_bytes"}, 12, 1, "sent_bytes and acked_bytes, .*falcon-rue"),
        ("falcon-rue", {"nack_count"}, 60, 1, r"68 bytes \(60 .*, 8 .* 64"),
    ],
)
def test_what_a_target_cannot_hold_is_said(target, signals, flow_bytes, arguments, reason):
    found = misfit(target_named(target), signals=signals, flow_bytes=flow_bytes, arguments=arguments)
    assert found is not None
    with pytest.raises(InputError, match=reason):
        raise InputError(found)


def test_what_just_fits_is_taken():
    for target, flow_bytes in (("doca-pcc", 44), ("falcon-rue", 60), ("linux-bpf", 84), ("connectx6dx", 116)):
        assert misfit(target_named(target), signals=set(), flow_bytes=flow_bytes, arguments=5) is None
        assert misfit(target_named(target), signals=set(), flow_bytes=flow_bytes + 1, arguments=5) is not None


def test_names():
    assert [t.name for t in targets_named(ALL)] == list(TARGETS)
    assert targets_named("generic") == (TARGETS["generic"],)
    with pytest.raises(InputError, match=r"'bluefield'; .*falcon-rue"):
        targets_named("bluefield")

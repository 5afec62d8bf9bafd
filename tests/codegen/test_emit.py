"""A firmware folder is exactly what its own student, target and seed give: emitting it again tells."""

import re

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student

from codegen.differences import differences
from codegen.emit import KIND
from decision.artefact.documents import dump_json, load_json
from decision.artefact.manifest import NAME, artefact_hash, opened, sha256
from decision.ir.forest import oblivious
from decision.policy.bursts import Bursts
from decision.policy.probes import Probes
from decision.policy.student import NAME as NAME_OF_STUDENT
from decision.policy.student import load_student


@pytest.fixture
def firmware(emitted, tmp_path):
    leaves = tuple(np.random.default_rng(1).integers(-5000, 6000, size=4).tolist())
    tree = oblivious(((0, 100), (1, 4000)), leaves)
    features = [FEATURES[kind] for kind in ("previous_action", "rl_cc_congestion")]
    return emitted(make_student(features, ACTIONS[0], (tree,), window=2, bias=12), tmp_path, target="connectx6dx")


def seal(folder):
    """As somebody would who edits a folder and knows how manifests are made."""
    content = load_json(folder / NAME)
    content["files"] = {p.name: sha256(p.read_bytes()) for p in sorted(folder.iterdir()) if p.name != NAME}
    content["hash"] = artefact_hash(KIND, content["files"], content["parents"], content["details"], content["seed"])
    (folder / NAME).write_text(dump_json(content))
    opened(folder, KIND)


def test_a_folder_as_emitted_has_no_differences(firmware):
    assert differences(firmware) == []


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("rlcc_policy.h", "RECIP_Q42(8192U)", "RECIP_Q42(819U)"),
        ("rlcc_policy.c", "    return rate_q20;", "    return (event->sent_bytes == 12345U) ? 1U : rate_q20;"),
        ("rlcc_rl_algo.c", "context.rate_q20 & 0xFFFFFFU", "0x100000U"),
        ("rlcc_policy.mk", "-std=c99 -O2", "-std=c99 -O0"),
        ("trees_only.c", "sum = 12;", "sum = 13;"),
        ("vectors.csv", "random:any", "random:all"),
    ],
)
def test_a_changed_file_is_named_even_where_the_folder_is_sealed_anew(name, old, new, firmware):
    text = (firmware / name).read_text()
    assert old in text
    (firmware / name).write_text(text.replace(old, new))
    seal(firmware)
    assert differences(firmware) == [name]


def test_the_header_and_the_manifest_say_when_flows_ask_for_their_rtt(firmware, emitted, tmp_path):
    student = load_student(tmp_path / "student" / NAME_OF_STUDENT)
    assert "RLCC_PROBE" not in (firmware / "rlcc_policy.h").read_text()
    assert "probes" not in load_json(firmware / NAME)["details"]
    for latest, ns in (({}, None), ({"latest": "2 ms"}, 2_000_000)):
        probes = Probes(after="8 KiB", first=32, **latest)
        folder = emitted(student.with_parts(probes=probes), tmp_path / str(ns), target="all")
        said = dict(re.findall(r"#define RLCC_PROBE_([A-Z_]+) (\d+)U", (folder / "rlcc_policy.h").read_text()))
        assert said == {"FIRST": "32", "AFTER_BYTES": "8192"} | ({} if ns is None else {"LATEST_NS": str(ns)})
        details = load_json(folder / NAME)["details"]
        assert details["probes"] == {"after_bytes": 8192, "latest_ns": ns, "first": 32}
        assert differences(folder) == []
        assert load_student(folder / NAME_OF_STUDENT).probes == probes
        for target in ("generic", "connectx6dx", "doca-pcc", "linux-bpf", "falcon-rue"):
            measures = target in ("linux-bpf", "falcon-rue")  # with every ACK, without being asked
            assert ("8192 bytes" in (folder / target / "README.md").read_text()) == (not measures)


def test_the_header_and_the_manifest_say_how_flows_send(firmware, emitted, tmp_path):
    student = load_student(tmp_path / "student" / NAME_OF_STUDENT)
    text = (firmware / "rlcc_policy.h").read_text()
    assert "RLCC_BURST" not in text
    assert "RLCC_FIRST_WINDOW" not in text
    assert not {"bursts", "first_window_bytes"} & set(load_json(firmware / NAME)["details"])
    folder = emitted(student.with_parts(bursts=Bursts(bdp=0.05)), tmp_path / "bursts", target="all")
    assert "#define RLCC_BURST_BYTES 5120U" in (folder / "rlcc_policy.h").read_text()
    assert load_json(folder / NAME)["details"]["bursts"] == {"bdp": 0.05, "bytes": 5120}
    assert differences(folder) == []
    for target in ("generic", "connectx6dx", "doca-pcc", "linux-bpf", "falcon-rue"):
        bursts = target not in ("linux-bpf", "falcon-rue")  # where others pace
        assert ("RLCC_BURST_BYTES" in (folder / target / "README.md").read_text()) == bursts


def test_a_file_too_many_and_a_file_too_few_are_named(firmware):
    (firmware / "stdint.h").write_text("#include_next <stdint.h>\n")
    (firmware / "rlcc_selftest.c").unlink()
    seal(firmware)
    assert differences(firmware) == ["rlcc_selftest.c", "stdint.h"]


def test_details_and_parents_count(firmware):
    for key, value, named in (("details", "params_default", "details"), ("parents", "teacher", "parents")):
        before = (firmware / NAME).read_text()
        content = load_json(firmware / NAME)
        content[key][value] = "0" * 64
        (firmware / NAME).write_text(dump_json(content))
        seal(firmware)
        assert differences(firmware) == [f"manifest.json: {named}"]
        (firmware / NAME).write_text(before)

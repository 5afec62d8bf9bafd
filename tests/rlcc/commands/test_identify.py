"""`rlcc identify` and an update in the field: diff, migration header, image, identity."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest


def image(folder: Path, *firmware: Path) -> Path:
    """An image that holds the records of these folders."""
    objects = []
    for place in firmware:
        objects.append(folder / f"{len(objects)}.o")
        (source,) = place.glob("*_identity.c")
        subprocess.run(["cc", "-c", str(source), "-o", str(objects[-1])], check=True)
    (folder / "image.bin").write_bytes(b"\xff" * 33 + b"".join(path.read_bytes() for path in objects))
    return folder / "image.bin"


@pytest.fixture(scope="module")
def update(good: Path, resealed: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``old`` and ``new``: firmware of the hand-written student and of one with other thresholds and one field less of
    history; ``b``: the old one under another prefix."""
    from rlcc import cli

    root = tmp_path_factory.mktemp("update")

    def retrained(work: Path) -> None:
        data = json.loads((work / "student.json").read_text())
        for tree in data["ensemble"]["trees"]:
            tree["splits"] = [split for split in tree["splits"] if split[0] != 0][:1]
            tree["leaves"] = tree["leaves"][: 2 ** len(tree["splits"])]
        (work / "student.json").write_text(json.dumps(data))

    resealed(good / "student", root / "student", retrained)
    for student, name, more in (
        (good / "student", "old", []),
        (root / "student", "new", []),
        (good / "student", "b", ["--prefix", "nic_b"]),
    ):
        assert cli.main(["emit", str(student), "--target", "generic", "--out", str(root / name), *more]) == 0
    return root


def test_an_update_is_compared_migrated_and_identified(update: Path, rlcc: Any, refused: Any, tmp_path: Path) -> None:
    old, new = update / "old", update / "new"
    header = tmp_path / "rlcc_migrate.h"
    asked = ["--scenario", "many-to-one:2", "--duration", "2 ms", "--migration", header]
    code, out, _ = rlcc("diff", old, new, *asked)
    assert code == 1
    assert any(line.startswith("identity.layout ") for line in out.splitlines())
    assert any(line.startswith("context.action_1 ") for line in out.splitlines())
    text = header.read_text()
    assert "after->rate_q30 = before->rate_q30;" in text
    assert "after->action_1" not in text
    main = f'#include "{header}"\nint main(void) {{ return 0; }}\n'
    (tmp_path / "main.c").write_text(main)
    subprocess.run(
        ["cc", "-Wall", "-Werror", f"-I{new}", str(tmp_path / "main.c"), "-o", str(tmp_path / "main")], check=True
    )
    made = image(tmp_path, new)
    code, out, _ = rlcc("identify", made, new)
    assert (code, len(out.splitlines())) == (0, 1)
    assert "policy" in refused("identify", made, old)


def test_images_that_hold_another_are_one_sentence(update: Path, rlcc: Any, refused: Any, tmp_path: Path) -> None:
    both = image(tmp_path, update / "old", update / "b")
    assert rlcc("identify", both, update / "old", update / "b")[0] == 0
    (tmp_path / "twice").mkdir()
    assert "prefix rlcc" in refused("identify", image(tmp_path / "twice", update / "old", update / "new"))
    (tmp_path / "alone").mkdir()
    assert "nic_b" in refused("identify", image(tmp_path / "alone", update / "old"), update / "b")
    (tmp_path / "empty").write_bytes(b"rlcc-id\x01" * 9)
    assert "identity" in refused("identify", tmp_path / "empty")


def test_what_needs_no_migration_and_bad_prefixes_are_refused(
    update: Path, good: Path, refused: Any, tmp_path: Path
) -> None:
    asked = ["--scenario", "many-to-one:2", "--duration", "1 ms", "--migration", tmp_path / "m.h"]
    assert "--migration" in refused("diff", update / "old", update / "b", *asked)
    assert "--migration" in refused("diff", good / "student", update / "old", *asked)
    assert not (tmp_path / "m.h").exists()
    for prefix in ("9a", "uint32", "A"):
        assert "prefix" in refused("emit", good / "student", "--prefix", prefix, "--out", tmp_path / "out")
    long = "a" * 20
    assert "linux-bpf" in refused(
        "emit", good / "student", "--target", "linux-bpf", "--prefix", long, "--out", tmp_path / "out"
    )
    assert not (tmp_path / "out").exists()


def test_a_prefixed_firmware_is_verified_like_any_other(update: Path, good: Path, rlcc: Any, tmp_path: Path) -> None:
    """Its certificate claims the same: program and machine code are the unprefixed firmware's."""
    code, _, _ = rlcc("verify", update / "b", "--out", tmp_path / "certificate.json")
    assert code == 0
    hashes = [
        json.loads(path.read_text())["hash"]
        for path in (tmp_path / "certificate.json", good / "certificate/certificate.json")
    ]
    assert hashes[0] == hashes[1]


def test_the_makefile_takes_blanks_and_a_runner(update: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a path/with blanks"
    shutil.copytree(update / "old", folder / "firmware")
    (tmp_path / "runner").write_text(f'#!/bin/sh\necho run >> "{tmp_path}/ran"\nexec "$@"\n')
    (tmp_path / "runner").chmod(0o755)
    check = [
        "make",
        "--no-print-directory",
        "-f",
        "a path/with blanks/firmware/rlcc_policy.mk",
        "check",
        f"RUNNER={tmp_path}/runner",
    ]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "ran").read_text() == "run\n"
    (tmp_path / "Makefile").write_text(
        "include a\\ path/with\\ blanks/firmware/rlcc_policy.mk\nall: $(RLCC_POLICY_SOURCES)\n\t@echo $(words $^)\n"
    )
    done = subprocess.run(
        ["make", "--no-print-directory", "all"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "-Werror" not in (folder / "firmware/rlcc_policy.mk").read_text()


def test_a_cross_build_runs_by_a_runner(update: Path, tmp_path: Path) -> None:
    if not (shutil.which("qemu-aarch64") and shutil.which("aarch64-linux-gnu-gcc")):
        pytest.skip("no qemu-aarch64 or no aarch64-linux-gnu-gcc")
    shutil.copytree(update / "old", tmp_path / "firmware")
    command = [
        "make",
        "--no-print-directory",
        "-f",
        "firmware/rlcc_policy.mk",
        "check",
        "CC=aarch64-linux-gnu-gcc",
        "LDFLAGS=-static",
    ]
    done = subprocess.run([*command, "RUNNER=qemu-aarch64"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("0 of")


def test_the_selftest_runs_without_stdio_and_finds_a_wrong_row(update: Path, tmp_path: Path) -> None:
    folder = tmp_path / "firmware"
    shutil.copytree(update / "old", folder)
    main = (
        "unsigned rlcc_selftest(unsigned *);\n"
        "int main(void) { unsigned first; return rlcc_selftest(&first) != 0U ? (int)first : 100; }\n"
    )
    (folder / "main.c").write_text(main)
    build = ["cc", "-DRLCC_SELFTEST_BARE", "rlcc_selftest.c", "rlcc_policy.c", "main.c", "-o", "selftest"]
    subprocess.run(build, cwd=folder, check=True)
    assert subprocess.run([folder / "selftest"], check=False).returncode == 100
    expanded = subprocess.run(["cc", "-E", *build[1:3]], cwd=folder, check=True, capture_output=True, text=True)
    assert "stdio" not in expanded.stdout
    rows = (folder / "vectors.inc").read_text().splitlines()
    begin, value, end = re.split(r"(\d+)(?=\D*$)", rows[3])
    rows[3] = f"{begin}{int(value) ^ 1}{end}"
    (folder / "vectors.inc").write_text("\n".join(rows) + "\n")
    subprocess.run(build, cwd=folder, check=True)
    assert subprocess.run([folder / "selftest"], check=False).returncode == 3


def test_two_firmwares_run_in_one_image(update: Path, rlcc: Any, refused: Any, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    code, said, _ = rlcc("emulate", update / "old", update / "b", "--json", out)
    assert code == 0
    assert [line.split()[1] for line in said.splitlines() if line.startswith("emulate ")] == ["rlcc", "nic_b"]
    together = json.loads(out.read_text())
    assert list(together) == ["rlcc", "nic_b"]
    assert rlcc("emulate", update / "b", "--json", out)[0] == 0
    assert json.loads(out.read_text()) == together["nic_b"]
    out.unlink()
    assert "prefix" in refused("emulate", update / "old", update / "new", "--json", out)
    assert not out.exists()

"""What can be missing or break around the guest: one sentence each, with how to mend it."""

import json
import os
import signal
import stat
from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from emulator.linux import machine, packages, parts
from emulator.linux.packages import Package

PACKAGE = Package("qemu", "1", "0" * 64, "http://localhost/qemu.deb", "qemu_1_amd64.deb")


def program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def sentence(error: pytest.ExceptionInfo[InputError]) -> str:
    text = str(error.value)
    assert "\n" not in text
    assert "Traceback" not in text
    return text


# --- apt ----------------------------------------------------------------------------------------------------------

APT = {
    "unknown package": (
        "echo 'E: Unable to locate package qemu-system-x86' >&2; exit 100",
        "qemu-system-x86.*apt-get update",
    ),
    "no candidate": ("echo \"E: Package 'bpftool' has no installation candidate\" >&2; exit 100", "bpftool"),
    "unmet": ("echo 'E: Unmet dependencies.' >&2; exit 100", "Unmet dependencies.*apt-get update"),
    "silent": ("exit 1", "says nothing"),
    "half a list": ("echo \"'http://x/a_1_amd64.deb' a_1_amd64.deb 10 SHA256:$(printf %064d 0)\"", "offers no"),
}


@pytest.mark.parametrize("name", APT)
def test_apt_refuses(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said, expected = APT[name]
    place = program(tmp_path / "bin", "apt-get", said).parent
    monkeypatch.setattr(packages, "PATH", f"{place}:{packages.PATH}")
    monkeypatch.setenv("PATH", f"{place}:{packages.PATH}")
    monkeypatch.setattr(packages.shutil, "which", lambda tool: tool)
    with pytest.raises(InputError, match=expected) as error:
        packages.closure(tmp_path)
    sentence(error)


def test_there_is_no_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="Debian or Ubuntu") as error:
        packages.closure(tmp_path)
    sentence(error)


HELPERS = {
    "a wrong hash": ("echo 'E: Failed to fetch qemu.deb  Hash Sum mismatch' >&2; exit 100", "Hash Sum mismatch"),
    "no network": ("echo 'E: Could not connect to its mirror' >&2; exit 100", "Could not connect"),
    "a silent end": ("exit 1", "says nothing"),
    "a truncated package": (
        "for f; do case $f in *.deb) echo truncated > $f;; esac; done 2>/dev/null",
        "does not unpack",
    ),
}


@pytest.mark.parametrize("name", HELPERS)
def test_a_download_fails(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said, expected = HELPERS[name]
    monkeypatch.setattr(packages, "HELPER", program(tmp_path / "bin", "helper", said))
    if name == "a truncated package" and packages.shutil.which("dpkg-deb") is None:
        program(tmp_path / "bin", "dpkg-deb", "echo 'not a Debian format archive' >&2; exit 2")
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with pytest.raises(InputError, match=expected) as error:
        packages.unpack([PACKAGE], tmp_path)
    sentence(error)


def test_there_is_no_helper_of_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "HELPER", tmp_path / "none")
    with pytest.raises(InputError, match="after the network") as error:
        packages.unpack([PACKAGE], tmp_path)
    sentence(error)


# --- the parts ----------------------------------------------------------------------------------------------------


def test_there_is_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MIN_BYTES", 1 << 62)
    with pytest.raises(InputError, match="free room there") as error:
        parts._build(tmp_path, lambda _: None)
    sentence(error)


def test_a_package_brought_no_kernel(tmp_path: Path) -> None:
    (tmp_path / "boot").mkdir()
    with pytest.raises(InputError, match="brought no kernel") as error:
        parts._kernel(tmp_path, tmp_path)
    sentence(error)


def test_a_kernel_tells_nothing_of_its_types(tmp_path: Path) -> None:
    (tmp_path / "boot").mkdir()
    (tmp_path / "boot/vmlinuz-6.1").write_bytes(b"")
    (tmp_path / "boot/config-6.1").write_text("CONFIG_BPF_JIT=y\n")
    with pytest.raises(InputError, match="without CONFIG_DEBUG_INFO_BTF") as error:
        parts._kernel(tmp_path, tmp_path)
    sentence(error)


def test_a_kernel_lacks_a_module(tmp_path: Path) -> None:
    (tmp_path / "lib/modules/6.1").mkdir(parents=True)
    with pytest.raises(InputError, match="no module veth") as error:
        parts._modules(tmp_path, "6.1")
    sentence(error)


@pytest.mark.parametrize("break_it", ["truncate", "remove", "no list", "not JSON"])
def test_a_broken_part_in_the_cache_is_seen(break_it: str, tmp_path: Path) -> None:
    kernel, facts = tmp_path / "vmlinuz", tmp_path / "parts.json"
    kernel.write_bytes(b"kernel")
    whole = {"files": {"vmlinuz": parts._digest(kernel)}, "kernel_release": "6.1", "packages": [], "hash": "0"}
    facts.write_text(json.dumps(whole))
    assert parts._checked.__wrapped__(tmp_path).kernel_release == "6.1"
    if break_it == "truncate":
        kernel.write_bytes(b"ker")
    elif break_it == "remove":
        kernel.unlink()
    elif break_it == "no list":
        facts.write_text("{}")
    else:
        facts.write_text("{")
    with pytest.raises(InputError, match="made anew") as error:
        parts._checked.__wrapped__(tmp_path)
    sentence(error)


# --- the guest ----------------------------------------------------------------------------------------------------

LINES = 'for w in "$@"; do case $w in file,id=lines,path=*) out=${w#*path=};; file:*) console=${w#file:};; esac; done; '
GUESTS = {
    "killed": (LINES + "kill -KILL $$", f"signal {int(signal.SIGKILL)}"),
    "no memory": (
        "echo 'qemu: cannot set up guest memory: Cannot allocate memory' >&2; exit 1",
        "Cannot allocate memory",
    ),
    "a panic": (LINES + "echo 'Kernel panic - not syncing: no init' > $console", "Kernel panic"),
    "half of the lines": (LINES + "printf 'Q 0 0 0 0 0\\nQ 10' > $out", "its kernel said nothing"),
    "too slow": ("exec sleep 20", "did not end within 1 s"),
}


@pytest.fixture
def bed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> parts.Parts:
    (tmp_path / "initramfs").write_bytes(b"")
    monkeypatch.setattr(machine, "agent", lambda: {"init": b""})
    return parts.Parts(tmp_path, "6.1", (), "0")


@pytest.mark.parametrize("name", GUESTS)
def test_a_guest_does_not_come_to_its_end(
    name: str, bed: parts.Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, expected = GUESTS[name]
    qemu = program(tmp_path / "bin", "qemu", said)
    monkeypatch.setattr(parts.Parts, "qemu", lambda _: [str(qemu)])
    with pytest.raises(InputError, match=expected) as error:
        machine.boot(bed, {"job/run": b"true\n"}, 1, seconds=1)
    sentence(error)


def test_there_is_no_qemu(bed: parts.Parts) -> None:
    with pytest.raises(InputError, match="made anew") as error:
        machine.boot(bed, {"job/run": b"true\n"}, 1)
    sentence(error)

"""What can go wrong around a guest, as a user meets it: one sentence, exit code 2, nothing left behind. QEMU is a shell
script here that does what a real one did; what apt and the cache can do is in tests/emulator/linux/test_faults.py."""

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from emulator.linux import machine, parts
from rlcc import cli
from rlcc.evaluation import linux
from rlcc.evaluation import linux_control as congestion

RUN = ("evaluate", "--stack", "linux", "--scenario", "many-to-one:2", "--duration", "1 s", "--no-pictures")
PLACES = (
    'for w in "$@"; do case $w in file,id=lines,path=*) out=${w#*path=};; file:*) console=${w#file:};; esac; done\n'
)
END = "printf '%s\\n' D END >> $out\n"
LOG = (
    "printf '%s\\n' 'no write support to tcp_sock at off 1580' 'processed 26 insns (limit 1000000)' "
    "\"libbpf: prog 'rlcc_init': failed to load: -13\" 'E register rlcc' END > $out\n"
)
GUESTS = {
    "killed by hand": ("kill -KILL $$", "signal 9"),
    "killed for memory": ("printf 'Q 0 0 0 0 0\\n' > $out; kill -KILL $$", "signal 9"),
    "a fault of its own": ("kill -SEGV $$", "signal 11"),
    "no memory for the guest": ("echo 'qemu: guest memory: Cannot allocate memory' >&2; exit 1", "Cannot allocate"),
    "a truncated kernel": ("echo 'qemu: could not load kernel: Invalid argument' >&2; exit 1", "load kernel"),
    "no accelerator": ("echo 'qemu: -accel tcg: invalid accelerator tcg' >&2; exit 1", "invalid accelerator"),
    "a library too old": ("echo \"qemu: version 'GLIBC_2.99' not found\" >&2; exit 127", "GLIBC_2.99"),
    "a truncated initramfs": ("echo 'Kernel panic: VFS: Unable to mount root fs' > $console", "Unable to mount"),
    "no memory in the guest": ("echo 'Kernel panic: System is deadlocked on memory' > $console", "deadlocked"),
    "a guest that says nothing": ("true", "its kernel said nothing"),
    "lines that stop": ("printf 'Q 0 0 0 0 0\\nQ 10' > $out", "its kernel said nothing"),
    "lines that are none": (f"echo 'Q 0 0 zero 0 0' > $out; {END}", "'Q 0 0 zero 0 0' is not what its program prints"),
    "a line cut short": (f"echo 'Q 0 0' > $out; {END}", "'Q 0 0' is not what its program prints"),
    "a module that is missing": ("printf 'E insmod tcp_bbr\\nEND\\n' > $out", "insmod tcp_bbr"),
    "no such congestion control": ("printf 'E cubix: No such file or directory\\nEND\\n' > $out", "cubix"),
    "a job that ends early": ("printf 'Q 0 0 0 0 0\\nE the job ended with 1\\nEND\\n' > $out", "the job ended with 1"),
    "a program that the kernel refuses": (LOG, "the kernel refuses rlcc_init: no write support to tcp_sock"),
    "a map that holds something else": (f"echo 'M {{\"value\": []}}' > $out; {END}", "0 bytes"),
    "a map that was not read back": (f"echo 'Q 0 0 0 0 0' > $out; {END}", "does not hold the parameters"),
    "a guest that hangs": ("exec sleep 60", "did not end within 1 s"),
}  # fmt: skip


@pytest.fixture(scope="module")
def firmware(pipeline, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("linux") / "firmware"
    assert cli.main(["emit", str(pipeline.student), "--target", "linux-bpf", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def bed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A machine whose QEMU is this shell."""
    cache, scratch = tmp_path / "cache", tmp_path / "scratch"
    cache.mkdir()
    scratch.mkdir()
    (cache / "initramfs").write_bytes(b"")
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setattr("emulator.linux.parts.machine_parts", lambda _: parts.Parts(cache, "6.1", (), "0"))
    monkeypatch.setattr(machine, "agent", lambda: {"init": b""})
    monkeypatch.setattr(linux, "agent", dict)
    monkeypatch.setattr(congestion, "compiled", lambda _: b"\x7fELF")
    monkeypatch.setattr(machine, "SECONDS", 1)
    monkeypatch.setattr(machine.boot, "__kwdefaults__", {**(machine.boot.__kwdefaults__ or {}), "seconds": 1})

    def make(said: str) -> None:
        program = tmp_path / "qemu"
        program.write_text(f"#!/bin/sh\n{PLACES}{said}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setattr(parts.Parts, "qemu", lambda _: [str(program)])

    return make


@pytest.mark.parametrize("name", GUESTS)
def test_a_fault_is_one_sentence_and_leaves_nothing(name: str, bed, firmware: Path, tmp_path: Path, refused) -> None:
    said, words = GUESTS[name]
    bed(said)
    assert words in refused(*RUN, f"rlcc={firmware}", "--out", tmp_path / "out")
    assert not list((tmp_path / "scratch").iterdir())
    assert not (tmp_path / "out" / "evaluation").exists()


def test_a_full_disk_is_one(bed, tmp_path: Path, refused, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(28, os.strerror(28), str(self))

    bed("true")
    monkeypatch.setattr(machine.Path, "write_bytes", full)
    assert "initramfs: no space" in refused(*RUN, "cubic")
    assert not list((tmp_path / "scratch").iterdir())


def test_no_qemu_is_one(bed, tmp_path: Path, refused, monkeypatch: pytest.MonkeyPatch) -> None:
    bed("true")
    monkeypatch.setattr(parts.Parts, "qemu", lambda _: [str(tmp_path / "nowhere")])
    assert "QEMU does not" in refused(*RUN, "cubic")
    assert not list((tmp_path / "scratch").iterdir())


def test_a_firmware_that_was_changed_is_one(bed, firmware: Path, tmp_path: Path, refused) -> None:
    bed("true")
    changed = tmp_path / "changed"
    changed.mkdir()
    for file in firmware.iterdir():
        (changed / file.name).write_bytes(file.read_bytes())
    with (changed / "rlcc_bpf.c").open("a") as source:
        source.write("/* */\n")
    assert "rlcc_bpf.c" in refused(*RUN, f"rlcc={changed}")


def test_an_out_that_is_a_file_is_one(bed, tmp_path: Path, refused) -> None:
    bed("true")
    (tmp_path / "out").write_text("")
    refused(*RUN, "cubic", "--out", tmp_path / "out")

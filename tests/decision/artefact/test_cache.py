"""The cache of built cores: built once for a key, never half there, safe for builders that meet."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from decision.artefact.build_cache import HASHES, built_once
from decision.artefact.cache import cache_folder, private_cache
from decision.artefact.errors import InputError
from emulator import core as core_module
from emulator.compile import compile_policy, link_program, tool_environment, toolchain
from emulator.core import built_core
from emulator.profile import load_profile
from emulator.verilated import ibex


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "rlcc"


def test_cache_follows_the_xdg_rule(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder() == cache
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/to/be/ignored")
    monkeypatch.setenv("HOME", "/home/someone")
    assert cache_folder() == Path("/home/someone/.cache/rlcc")


def test_the_second_call_builds_nothing(cache: Path) -> None:
    calls = []

    def build(folder: Path) -> None:
        calls.append(folder)
        (folder / "x").write_text("built")

    for _ in range(2):
        assert (built_once("things", "key", build) / "x").read_text() == "built"
    assert len(calls) == 1
    assert [p.name for p in (cache / "things").iterdir()] == ["key"]


def test_a_failed_build_leaves_nothing(cache: Path) -> None:
    def build(folder: Path) -> None:
        (folder / "half").write_text("")
        raise InputError("no")

    with pytest.raises(InputError, match="no"):
        built_once("things", "key", build)
    assert list((cache / "things").iterdir()) == []


@pytest.mark.parametrize("locks", [True, False])
def test_builders_at_once_agree_and_with_locks_one_builds(
    cache: Path, monkeypatch: pytest.MonkeyPatch, locks: bool
) -> None:
    at_once = 1 if locks else 4
    barrier = threading.Barrier(at_once)
    found: list[Path] = []
    built: list[Path] = []
    if not locks:
        monkeypatch.setattr("fcntl.flock", Mock(side_effect=OSError))

    def build(folder: Path) -> None:
        barrier.wait(timeout=30)
        built.append(folder)
        time.sleep(0.01)
        (folder / "x").write_text("built")

    def worker() -> None:
        found.append(built_once("things", "key", build))

    threads = [threading.Thread(target=worker) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == at_once
    assert found == [cache / "things" / "key"] * 4
    assert [p.name for p in (cache / "things").iterdir()] == ["key"]
    assert (found[0] / "x").read_text() == "built"


def test_a_builder_that_is_killed_holds_no_lock(cache: Path) -> None:
    script = """
import os, signal
from decision.artefact.build_cache import built_once
built_once("things", "key", lambda folder: os.kill(os.getpid(), signal.SIGKILL))
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL
    assert (built_once("things", "key", lambda folder: (folder / "x").touch()) / "x").exists()


def test_an_unwritable_cache_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(InputError, match="set XDG_CACHE_HOME"):
        built_once("things", "key", lambda folder: None)


def test_a_core_is_built_once_and_found_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    first = built_core(load_profile("ibex-small").core)
    monkeypatch.setattr(core_module, "_build", lambda *_: pytest.fail("built again"))
    assert built_core(load_profile("ibex-small").core) == first
    assert {path.name for path in first.iterdir()} == {core_module.EXECUTABLE, core_module.LIBRARY, HASHES}


@pytest.fixture
def nothing_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """A core is an empty folder."""
    monkeypatch.setattr(core_module, "_build", lambda rtl, folder: None)


def test_only_what_changes_the_rtl_is_another_core(
    cache: Path, nothing_built: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = load_profile("ibex-small").core
    keys = {built_core(core)}
    keys.add(built_core(core.model_copy(update={"isa": "rv32imc"})))  # the same RTL runs both
    assert len(keys) == 1
    for change in ({"multiplier": "slow"}, {"branch_target_alu": True}, {"writeback_stage": True}):
        keys.add(built_core(core.model_copy(update=change)))
    keys.add(built_core(core.model_copy(update={"isa": "rv32im_zba_zbb_zbs"})))
    assert len(keys) == 5
    monkeypatch.setattr(core_module, "CXX_FAST", ("-O1",))
    keys.add(built_core(core))
    assert len(keys) == 6


def test_every_profiles_core_is_its_own_but_for_what_only_the_compiler_sees(cache: Path, nothing_built: None) -> None:
    names = (
        "ibex-small",
        "ibex-maxperf",
        "ibex-small-nomul",
        "ibex-maxperf-bitmanip",
        "picorv32",
        "vexriscv",
        "cv32e40p",
    )
    assert len({built_core(load_profile(name).core) for name in names}) == len(names)
    assert built_core(load_profile("ibex-small-c").core) == built_core(load_profile("ibex-small").core)


@pytest.mark.parametrize(
    "edited",
    ["rtl/rlcc_memory_port.sv", "verilated/ibex/prim_flop.sv", "bench/job.hpp", "bench/engine.hpp", "bench/stream.cpp"],
)
def test_an_edited_source_is_another_core(
    cache: Path, nothing_built: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: str
) -> None:
    core = load_profile("ibex-small").core
    before = built_core(core)
    copy = tmp_path / "copy"
    for folder in ("rtl", "verilated", "bench"):
        shutil.copytree(core_module.HERE / folder, copy / folder)
    monkeypatch.setattr(core_module, "HERE", copy)
    monkeypatch.setattr(ibex, "HERE", copy / "verilated/ibex")
    monkeypatch.setattr(ibex, "MEMORY_PORT", copy / "rtl/rlcc_memory_port.sv")
    assert built_core(core) == before  # where the files lie does not matter
    for another in ("verilated/picorv32/rlcc_picorv32.sv", "bench/cva6_engine.hpp"):  # no part of this core
        with (copy / another).open("a") as file:
            file.write("// edited\n")
    assert built_core(core) == before
    with (copy / edited).open("a") as file:
        file.write("// edited\n")
    assert built_core(core) != before


def test_missing_cxx_compiler_names_the_command(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(InputError, match=r"apt install g\+\+"):
        built_core(load_profile("ibex-small").core)


@pytest.mark.parametrize("damage", ["another byte", "one file more", "one file less", "no hashes", "another key's"])
def test_what_became_another_is_built_anew(cache: Path, damage: str) -> None:
    calls = []

    def build(folder: Path) -> None:
        calls.append(folder)
        (folder / "x").write_text("built")

    built_once("things", "other", build)
    folder = built_once("things", "key", build)
    if damage == "another byte":
        (folder / "x").write_text("bui1t")
    elif damage == "one file more":
        (folder / "libc.so").write_text("")
    elif damage == "another key's":
        shutil.rmtree(folder)
        shutil.copytree(cache / "things/other", folder)
    else:
        (folder / ("x" if damage == "one file less" else HASHES)).unlink()
    again = built_once("things", "key", build)
    assert len(calls) == 3
    assert (again / "x").read_text() == "built"
    assert sorted(path.name for path in again.iterdir()) == [HASHES, "x"]
    built_once("things", "key", build)
    assert len(calls) == 3


def test_a_private_cache_begins_empty_and_leaves_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(folder: Path) -> None:
        (folder / "x").write_text("built")

    outside = built_once("things", "key", build)
    with private_cache():
        inside = built_once("things", "key", build)
        assert not inside.is_relative_to(cache)
        assert tool_environment()["ZIG_LOCAL_CACHE_DIR"] == str(cache_folder() / "zig")
    assert not inside.exists()
    assert cache_folder() == cache
    assert built_once("things", "key", build) == outside
    monkeypatch.delenv("XDG_CACHE_HOME")
    with private_cache():
        pass
    assert "XDG_CACHE_HOME" not in os.environ


def test_machine_code_comes_from_no_compilers_cache(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder that zig is pointed to belongs to one build."""
    seen: list[str] = []
    real = subprocess.run

    def run(command: list[str], **options: Any) -> Any:
        if "--version" not in command:
            seen.extend(options["env"][name] for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"))
        return real(command, **options)

    monkeypatch.setattr("subprocess.run", run)
    (tmp_path / "f.c").write_text("int f(int x) { return x; }\n")
    tools = toolchain("ibex-small")
    link_program(compile_policy(tmp_path / "f.c", tools, folder=tmp_path), "f", tools.profile, tmp_path)
    assert len(seen) >= 6
    assert all(Path(place).is_relative_to(tmp_path) for place in seen)

"""How many processors may be used: the scheduler's word, the control group's quota, and what somebody asked for."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from decision.artefact.processors import OVERRIDE, usable_cores

COUNT = "from decision.artefact.processors import usable_cores; print(usable_cores())"


@pytest.fixture(autouse=True)
def many_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OVERRIDE, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))


def machine(system: Path, groups: str, mounts: str, files: dict[str, str]) -> Path:
    """A system folder with the kernel's files as a process in ``groups`` reads them."""
    given = {"proc/self/cgroup": groups, "proc/self/mountinfo": mounts, **files}
    for name, content in given.items():
        path = system / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return system


VERSION_2 = "36 24 0:31 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
VERSION_1 = "40 31 0:35 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"


@pytest.mark.parametrize(
    ("written", "cores"),
    [("max 100000", 64), ("300000 100000", 3), ("150000 100000", 2), ("10000 100000", 1), ("9900000 100000", 64)],
)
def test_a_quota_of_version_2_is_kept_rounded_up(tmp_path: Path, written: str, cores: int) -> None:
    system = machine(tmp_path, "0::/box\n", VERSION_2, {"sys/fs/cgroup/box/cpu.max": written + "\n"})
    assert usable_cores(system) == cores


@pytest.mark.parametrize(("quota", "period", "cores"), [(-1, 100000, 64), (400000, 100000, 4), (250000, 50000, 5)])
def test_a_quota_of_version_1_is_kept(tmp_path: Path, quota: int, period: int, cores: int) -> None:
    folder = "sys/fs/cgroup/cpu,cpuacct/box"
    files = {f"{folder}/cpu.cfs_quota_us": f"{quota}\n", f"{folder}/cpu.cfs_period_us": f"{period}\n"}
    groups = "9:memory:/box\n4:cpu,cpuacct:/box\n1:name=systemd:/elsewhere\n0::/\n"
    assert usable_cores(machine(tmp_path, groups, VERSION_1, files)) == cores


def test_the_group_around_may_have_less(tmp_path: Path) -> None:
    files = {"sys/fs/cgroup/a/b/cpu.max": "700000 100000", "sys/fs/cgroup/a/cpu.max": "200000 100000"}
    assert usable_cores(machine(tmp_path, "0::/a/b\n", VERSION_2, files)) == 2


def test_a_container_that_sees_its_group_as_the_root_of_the_mount(tmp_path: Path) -> None:
    """As Docker mounts version 1: the path in /proc/self/cgroup is the host's."""
    mounts = VERSION_1.replace(" / ", " /docker/1f3a ", 1)
    folder = "sys/fs/cgroup/cpu,cpuacct"
    files = {f"{folder}/cpu.cfs_quota_us": "200000", f"{folder}/cpu.cfs_period_us": "100000"}
    assert usable_cores(machine(tmp_path, "4:cpu,cpuacct:/docker/1f3a\n", mounts, files)) == 2


def test_a_group_whose_path_the_mount_does_not_show_is_read_at_the_mount(tmp_path: Path) -> None:
    mounts = VERSION_2.replace(" / ", " /kubepods/other ", 1)
    system = machine(tmp_path, "0::/kubepods/this\n", mounts, {"sys/fs/cgroup/cpu.max": "300000 100000"})
    assert usable_cores(system) == 3


def test_a_mount_point_with_a_space(tmp_path: Path) -> None:
    mounts = VERSION_2.replace("/sys/fs/cgroup", "/sys/my\\040groups")
    assert usable_cores(machine(tmp_path, "0::/\n", mounts, {"sys/my groups/cpu.max": "300000 100000"})) == 3


@pytest.mark.parametrize("written", ["", "nonsense", "100000", "1 0", "-5 100000", "1e9 3", "1 2 3"])
def test_what_says_nothing_limits_nothing(tmp_path: Path, written: str) -> None:
    assert usable_cores(machine(tmp_path, "0::/\n", VERSION_2, {"sys/fs/cgroup/cpu.max": written})) == 64


def test_a_machine_without_control_groups(tmp_path: Path) -> None:
    assert usable_cores(tmp_path) == 64
    assert usable_cores(machine(tmp_path, "garbage\n0::../..\n", "garbage\n1 2 - cgroup2\n", {})) == 64


def test_the_scheduler_may_allow_less_than_the_quota(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5})
    assert usable_cores(machine(tmp_path, "0::/\n", VERSION_2, {"sys/fs/cgroup/cpu.max": "900000 100000"})) == 2


@pytest.mark.skipif(shutil.which("taskset") is None, reason="taskset (util-linux) is not installed")
def test_taskset_is_heard() -> None:
    environment = {name: value for name, value in os.environ.items() if name != OVERRIDE}
    command = ["taskset", "-c", "0", sys.executable, "-c", COUNT]
    assert subprocess.check_output(command, env=environment, text=True).strip() == "1"


def test_what_somebody_asked_for_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = machine(tmp_path, "0::/\n", VERSION_2, {"sys/fs/cgroup/cpu.max": "100000 100000"})
    monkeypatch.setenv(OVERRIDE, "7")
    assert usable_cores(system) == 7
    monkeypatch.setenv(OVERRIDE, "default")
    assert usable_cores(system) == 1


@pytest.mark.parametrize("value", ["", "0", "-2", "two", "1.5"])
def test_an_override_that_is_no_number_is_one_sentence(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(OVERRIDE, value)
    with pytest.raises(InputError, match=f"{OVERRIDE}.*'{value}'"):
        usable_cores()

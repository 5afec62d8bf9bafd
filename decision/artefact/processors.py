"""How many processors this process may use: what decides how many threads or processes run side by side.

A container is seldom given a machine's processors by number; it is given a share of their time, a quota of its control
group. More threads than that only take turns.
"""

import os
from collections.abc import Iterator
from math import ceil
from pathlib import Path, PurePosixPath

from decision.artefact.errors import InputError

OVERRIDE = "PYTHON_CPU_COUNT"
"""The variable by which Python 3.13 and later are told another number; here any Python is."""


def usable_cores(system: Path = Path("/")) -> int:
    """As many as ``PYTHON_CPU_COUNT`` says; else those that the scheduler may put this process on, and no more than the
    quota of its control group keeps busy. ``system``: the folder that holds proc and sys."""
    asked = os.environ.get(OVERRIDE, "default")
    if asked != "default":
        if not asked.isdecimal() or int(asked) < 1:
            raise InputError(f"the environment variable {OVERRIDE} is {asked!r}; give a whole number of at least 1")
        return int(asked)
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quotas = [ceil(quota) for quota in _quotas(system)]
    return max(1, min([allowed, *quotas]))


def _quotas(system: Path) -> Iterator[float]:
    """Processors' worth of time that this process's control group and each one around it may take."""
    for folder in _groups(system):
        quota = _version_2(folder) or _version_1(folder)
        if quota is not None:
            yield quota


def _version_2(folder: Path) -> float | None:
    """cpu.max: "200000 100000", microseconds of time a period of so many; "max 100000" where there is no limit."""
    return _share(_words(folder / "cpu.max"))


def _version_1(folder: Path) -> float | None:
    """The same in a file each; -1 where there is no limit."""
    return _share(_words(folder / "cpu.cfs_quota_us") + _words(folder / "cpu.cfs_period_us"))


def _share(words: list[str]) -> float | None:
    if len(words) != 2 or not all(word.isdecimal() for word in words) or int(words[1]) == 0:
        return None
    return int(words[0]) / int(words[1])


def _groups(system: Path) -> Iterator[Path]:
    """Folders of this process's control groups that may limit the processors, from the inmost outwards."""
    paths = dict(_memberships(system / "proc/self/cgroup"))
    for mount in _lines(system / "proc/self/mountinfo"):
        # "31 23 0:28 <root> <mount point> <options> [fields ..] - <type> <source> <options>", proc(5).
        before, _, after = mount.partition(" - ")
        fields, kind = before.split(), after.split()
        if len(fields) < 5 or len(kind) < 3 or kind[0] not in ("cgroup", "cgroup2"):
            continue
        controllers = ("",) if kind[0] == "cgroup2" else tuple(kind[2].split(","))
        path = next((paths[name] for name in ("", "cpu") if name in controllers and name in paths), None)
        if path is None:
            continue
        root, point = PurePosixPath(_unescaped(fields[3])), system / _unescaped(fields[4]).lstrip("/")
        # A container may see its own group as the root of what is mounted, under a path that only the host has.
        inner = path.relative_to(root) if path.is_relative_to(root) else PurePosixPath()
        yield from (point / folder for folder in (inner, *inner.parents))


def _memberships(file: Path) -> Iterator[tuple[str, PurePosixPath]]:
    """(controller, path) of each line "4:cpu,cpuacct:/path"; the controller of version 2, "0::/path", is ""."""
    for line in _lines(file):
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if path.startswith("/") and ".." not in path:
            yield from ((name, PurePosixPath(path)) for name in controllers.split(","))


def _unescaped(path: str) -> str:
    """mountinfo writes a space as \\040, and so on."""
    for code in ("\\040", "\\011", "\\012", "\\134"):
        path = path.replace(code, chr(int(code[1:], 8)))
    return path


def _words(file: Path) -> list[str]:
    return " ".join(_lines(file)).split()


def _lines(file: Path) -> list[str]:
    """None where there is no such file, or none that may be read: then nothing is known to limit."""
    try:
        return file.read_text(errors="replace").splitlines()
    except OSError:
        return []

"""Version line of a tool, asked once for each state of its file."""

import os
import shutil
import subprocess
from pathlib import Path

VERSION_SETTINGS = ("PATH", "VERILATOR_ROOT", "ZIG_GLOBAL_CACHE_DIR")
"""Environment variables that decide which tool answers, or whether it can."""

FileState = tuple[str, int, int, int]
"""Path of a file, its inode, bytes, and time of its last change in ns."""
_VERSIONS: dict[tuple[object, ...], str] = {}


def version_line(command: list[str], env: dict[str, str] | None = None) -> str:
    """The first line that a tool prints about itself, or '' when it does not run. A tool that has answered is not asked
    again as long as its file stays."""
    path = shutil.which(command[0])
    settings = env or os.environ
    key = (*command, *(settings.get(name) for name in VERSION_SETTINGS), path and file_state(Path(path)))
    if key not in _VERSIONS:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        lines = (done.stdout or done.stderr).strip().splitlines()
        if not lines or done.returncode != 0:
            return ""
        _VERSIONS[key] = lines[0].strip()
    return _VERSIONS[key]


def file_state(path: Path) -> FileState:
    """Returns facts that change when the file is written or replaced."""
    found = path.stat()
    return str(path), found.st_ino, found.st_size, found.st_mtime_ns

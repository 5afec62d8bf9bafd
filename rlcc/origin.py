"""The line below a generated page's title: the command that made it, of which source, on what machine."""

import platform
import subprocess
from pathlib import Path

from decision.artefact.processors import usable_cores
from rlcc import __version__

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("docs/results", "papers/pages")


def made_by(command: str) -> str:
    """A sentence or two of Markdown, one line; `tests/rlcc/test_docs.py` asks every page of docs/results for it."""
    return f"Made by `{command}` at {source()} on {machine()}. Do not edit it."


def source(root: Path = ROOT) -> str:
    """The checkout's commit, and whether files other than generated pages, of which several are made in turn, differ
    from it; the version where there is no checkout."""
    if not (root / ".git").exists():
        return f"version {__version__}"
    try:
        commit = _git(root, "rev-parse", "--short=9", "HEAD")
        others = [f":(exclude){pages}" for pages in PAGES]
        changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", ".", *others)
    except (OSError, subprocess.CalledProcessError):
        return f"version {__version__}"
    return f"commit {commit}" + (" with changes" if changed else "")


def machine() -> str:
    """Kind and number of processors, no name of a host."""
    return f"{platform.machine()}, {usable_cores()} x {processor()}, Python {platform.python_version()}"


def processor() -> str:
    """Returns the processor's name for itself, or its architecture."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()

"""A generated page says which command made it, of which source, on what machine."""

import re
import subprocess
from pathlib import Path

import pytest

from rlcc import __version__
from rlcc.origin import PAGES, made_by, source


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", *who, "-C", str(root), *arguments], check=True, capture_output=True)


def test_the_line_names_command_source_and_machine_and_no_host() -> None:
    line = made_by("make papers")
    assert re.fullmatch(r".*`make papers` at \S.* \w+, [0-9]+ x \S.*, Python 3\.\d+\.\d+\..*", line), line
    assert "\n" not in line
    assert Path("/etc/hostname").read_text().strip() not in line


def test_the_source_is_the_commit_and_whether_files_differ_from_it(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "file").write_text("one")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-q", "-m", "a file")
    assert re.fullmatch(r"commit [0-9a-f]{9}", source(tmp_path))
    (tmp_path / "file").write_text("two")
    assert re.fullmatch(r"commit [0-9a-f]{9} with changes", source(tmp_path))


@pytest.mark.parametrize("pages", PAGES)
def test_a_page_made_before_changes_no_source(tmp_path: Path, pages: str) -> None:
    page = tmp_path / pages / "page.md"
    page.parent.mkdir(parents=True)
    git(tmp_path, "init", "-q")
    page.write_text("one")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "a page")
    page.write_text("two")
    assert re.fullmatch(r"commit [0-9a-f]{9}", source(tmp_path))


def test_what_is_installed_inside_somebody_elses_checkout_tells_its_version(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "site-packages").mkdir()
    assert source(tmp_path / "site-packages") == f"version {__version__}"

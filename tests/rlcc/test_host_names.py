"""No file names the host of a package registry: where packages come from is the machine's own business."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Spelt so that this file holds none of the names: a bracket round the first letter of each last part.
HOSTS = re.compile(
    r"(?<![\w-])(?:[\w-]+\.)*(?:"
    r"pypi\.[o]rg|pythonhosted\.[o]rg|pytorch\.[o]rg/whl|anaconda\.(?:[o]rg|[c]om)|conda\.[i]o|"
    r"crates\.[i]o|npmjs\.(?:[o]rg|[c]om)|yarnpkg\.[c]om|rubygems\.[o]rg|golang\.[o]rg|packagist\.[o]rg|nuget\.[o]rg|"
    r"maven\.[o]rg|maven\.apache\.[o]rg|hackage\.haskell\.[o]rg|cran\.r-project\.[o]rg|"
    r"docker\.(?:[i]o|[c]om)|ghcr\.[i]o|gcr\.[i]o|quay\.[i]o|huggingface\.[c]o|"
    r"deb\.debian\.[o]rg|snapshot\.debian\.[o]rg|security\.debian\.[o]rg|ftp\.[\w.]*debian\.[o]rg|"
    r"archive\.ubuntu\.[c]om|security\.ubuntu\.[c]om|ports\.ubuntu\.[c]om|dl-cdn\.alpinelinux\.[o]rg"
    r")(?![\w-])",
    re.IGNORECASE,
)
DOCUMENTS = ("docs.", "www.", "peps.")
"""Pages for people, not registries."""


def hosts_in(text: str) -> list[str]:
    """The registries' hosts that a text names."""
    return [name for name in HOSTS.findall(text) if not name.startswith(DOCUMENTS)]


def tracked() -> list[Path]:
    """The files of the checkout."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listing.stdout.split("\0") if name]


def test_no_file_names_the_host_of_a_registry() -> None:
    named = {}
    for path in tracked():
        if path.is_file() and (hosts := hosts_in(path.read_bytes().decode("utf-8", "ignore"))):
            named[str(path.relative_to(ROOT))] = hosts
    assert not named


@pytest.mark.parametrize(
    "parts",
    [
        ("https://pypi", "org/simple"),
        ("files.pythonhosted", "org"),
        ("registry.npmjs", "org"),
        ("index.crates", "io"),
        ("proxy.golang", "org"),
        ("deb.debian", "org"),
        ("archive.ubuntu", "com/ubuntu"),
        ("registry-1.docker", "io"),
        ("DOWNLOAD.PYTORCH", "ORG/whl/cpu"),
    ],
)
def test_a_name_is_seen(parts: tuple[str, str]) -> None:
    assert hosts_in(f"Could not connect to {'.'.join(parts)}: timed out")


@pytest.mark.parametrize("text", ["its mirror", "docs.pytorch.org/docs", "environment `pypi`", "scikit-learn.org"])
def test_what_names_no_registry_is_let_through(text: str) -> None:
    assert not hosts_in(text)

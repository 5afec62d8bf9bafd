"""The distribution's packages, downloaded and unpacked: nothing is installed, and no right is needed.

The closure is resolved as for an empty machine, so that what comes out does not depend on what this one has installed.
apt checks each package against the signed index; names, versions and SHA-256 are kept beside the result.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from decision.artefact.errors import InputError

WANTED = ("qemu-system-x86", "linux-image-amd64", "busybox-static", "iproute2", "bpftool")
APT_LINE = "apt-get update"
HELPER = Path("/usr/lib/apt/apt-helper")
SECONDS = 1800
"""More than 125 MB take on a slow line."""
LINE = re.compile(r"'(?P<uri>\S+)' (?P<file>\S+) (?P<size>\d+) SHA256:(?P<sha256>[0-9a-f]{64})")
FILE = re.compile(r"(?P<name>[a-z0-9.+-]+)_(?P<version>[^_/]+)_(?P<machine>[a-z0-9]+)\.deb")


@dataclass(frozen=True)
class Package:
    """One of the closure."""

    name: str
    version: str
    sha256: str
    uri: str
    file: str


def closure(work: Path, wanted: tuple[str, ...] = WANTED, of: tuple[str, ...] = ()) -> list[Package]:
    """Returns the packages that ``wanted`` needs on an empty machine, by name; ``of``: more options of apt, for example
    for another kind of machine. InputError names the package that apt does not offer."""
    for tool in ("apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            raise InputError(
                f"the Linux bed is made from Debian packages, and {tool} is not here; use Debian or Ubuntu"
            )
    status = work / "status"
    status.touch()
    options = [f"Dir::State::status={status}", "Debug::NoLocking=1", "Acquire::ForceHash=SHA256", *of]
    command = ["apt-get", *(word for option in options for word in ("-o", option))]
    command += ["--no-install-recommends", "--print-uris", "-qq", "-y", "install", *wanted]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env={"LC_ALL": "C", "PATH": PATH})
    if done.returncode:
        raise InputError(refused(done.stderr + done.stdout, wanted))
    packages = [_package(match) for match in LINE.finditer(done.stdout)]
    if missing := [name for name in wanted if name not in {package.name for package in packages}]:
        raise InputError(f"apt offers no {missing[0]}; run `{APT_LINE}`, with Debian's or Ubuntu's sources")
    return sorted(packages, key=lambda package: package.name)


PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def refused(text: str, wanted: tuple[str, ...]) -> str:
    """apt's refusal as one sentence with the line that mends it."""
    unknown = re.search(r"Unable to locate package (\S+)|Package '?(\S+?)'? has no installation candidate", text)
    name = next(part for part in unknown.groups() if part) if unknown else None
    if name is not None:
        return f"apt knows no package {name} (the Linux bed needs {', '.join(wanted)}); run `{APT_LINE}`"
    why = next((line for line in text.splitlines() if line.startswith("E:")), text.strip() or "it says nothing")
    return f"apt cannot resolve {', '.join(wanted)}: {why.removeprefix('E: ').rstrip('.')}; run `{APT_LINE}`"


def unpack(packages: list[Package], work: Path) -> Path:
    """Download and unpack ``packages`` below ``work``; the folder that looks like a machine's root."""
    downloads, root = work / "downloads", work / "root"
    downloads.mkdir()
    arguments = [word for p in packages for word in (p.uri, str(downloads / p.file), f"SHA256:{p.sha256}")]
    try:
        done = subprocess.run(
            [str(HELPER), "-q", "download-file", *arguments], capture_output=True, text=True, timeout=SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"apt did not download the Linux bed's packages ({error}); look after the network") from None
    if done.returncode:
        why = [line for line in done.stderr.splitlines() if line.startswith("E:")]
        text = why[0].removeprefix("E: ").rstrip(".") if why else "it says nothing"
        raise InputError(f"apt did not download the Linux bed's packages: {text}; run `{APT_LINE}` and try again")
    root.mkdir(exist_ok=True)  # a caller may have put links there
    for package in packages:
        done = subprocess.run(
            ["dpkg-deb", "-x", str(downloads / package.file), str(root)], capture_output=True, text=True
        )
        if done.returncode:
            raise InputError(f"{package.file} does not unpack: {done.stderr.strip()}; free room, or try again")
    return root


def _package(match: "re.Match[str]") -> Package:
    parts = FILE.fullmatch(match["file"])
    assert parts is not None, match["file"]
    return Package(parts["name"], unquote(parts["version"]), match["sha256"], match["uri"], match["file"])

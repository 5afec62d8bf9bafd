"""An aarch64 machine in a folder: Debian's Python and C library, wheels of the locks, rlcc compiled for it.

Its programs run by qemu-user. The kernel hands them over (binfmt_misc) in a user namespace of their own, Linux 6.7 or
later: no right is needed, and nothing changes for other processes.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from decision.artefact.errors import InputError
from emulator.linux.packages import closure, unpack

ROOT = Path(__file__).resolve().parents[2]
WANTED = ("python3", "libpython3-dev", "libstdc++6")
PROCESSOR = "cortex-a72"
"""BlueField-2's. QEMU takes ten times as long for pointer authentication, which later ones have."""
COMPILER = "aarch64-linux-gnu-g++"
"""GCC with one C++ library for all, as wheels are built. By zig each module has one linked in, and nanobind does not
know the exceptions of another module's."""
Z3_GLIBC = 38
"""2.38: z3-solver's wheel asks for it (docs/reference/platforms.md)."""
TOOLS = ("execnet", "hypothesis", "iniconfig", "packaging", "pluggy", "pygments", "pytest", "pytest-xdist", "pyyaml")
TOOLS += ("sortedcontainers", "unicorn")
"""Of test.lock; the other packages of it are not needed by the tests that run here."""
INSIDE = (
    "mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc && printf '%s' "
    r"':rlcc-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:"
    r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"
    '"$0:OC" >/proc/sys/fs/binfmt_misc/register && exec "$@"'
)
"""Shell, $0 is QEMU: ELF files of 64 bits, little-endian, programs or libraries, for aarch64 are run by it."""


@dataclass(frozen=True)
class Machine:
    """``root``: like the machine's root folder; ``site``: Python packages; ``tree``: rlcc's sources and modules."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "root"

    @property
    def site(self) -> Path:
        return self.folder / "site"

    @property
    def tree(self) -> Path:
        return self.folder / "tree"

    @property
    def programs(self) -> Path:
        """A folder with `cc`, by which tests compile libraries that its Python loads."""
        return self.folder / "bin"

    @property
    def python(self) -> Path:
        """The interpreter, python3.N."""
        return next(p for p in sorted((self.root / "usr/bin").glob("python3.*")) if p.name[8:].isdigit())

    @property
    def version(self) -> str:
        return self.python.name.removeprefix("python")

    @property
    def glibc(self) -> int:
        """N of 2.N."""
        library = (self.root / "usr/lib/aarch64-linux-gnu/libc.so.6").resolve().read_bytes()
        found = re.search(rb"GNU C Library \([^)]*\) stable release version 2\.(\d+)", library)
        assert found is not None
        return int(found[1])

    def environment(self, processor: str = PROCESSOR) -> dict[str, str]:
        """For its programs: its own packages and home, no others of this machine."""
        kept = {name: value for name, value in os.environ.items() if name == "TERM"}
        kept["PATH"] = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        mine = {"QEMU_LD_PREFIX": str(self.root), "QEMU_CPU": processor, "PYTHONNOUSERSITE": "1", "LC_ALL": "C.UTF-8"}
        mine |= {"PYTHONPATH": f"{self.tree}{os.pathsep}{self.site}", "HOME": str(self.folder / "home")}
        return kept | mine | {"XDG_CACHE_HOME": str(self.folder / "cache"), "CXX": COMPILER}

    def run(
        self, *arguments: object, cwd: Path | None = None, processor: str = PROCESSOR
    ) -> subprocess.CompletedProcess[str]:
        """Its Python with these arguments."""
        command = [*handed_over(), str(self.python), *map(str, arguments)]
        environment = self.environment(processor)
        return subprocess.run(
            command, cwd=cwd or self.tree, env=environment, capture_output=True, text=True, check=False
        )


def handed_over() -> list[str]:
    """What stands before a command so that programs of aarch64 are run by QEMU in it. InputError where they cannot."""
    qemu = shutil.which("qemu-aarch64")
    if qemu is None:
        raise InputError("qemu-aarch64 is not here; install it: sudo apt-get install qemu-user")
    before = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", INSIDE, qemu]
    done = subprocess.run([*before, "true"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(
            f"programs of aarch64 cannot be handed to QEMU here: {done.stderr.strip()}; it takes Linux 6.7 and user "
            "namespaces for this user"
        )
    return before


def make(folder: Path, suite: str) -> Machine:
    """The machine, with Debian's Python of ``suite``; what is there already stays, but for the tree."""
    machine = Machine(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for made in (folder / "home", machine.programs):
        made.mkdir(exist_ok=True)
    _program(machine.programs / "cc", f"exec {COMPILER} -xc")
    if not machine.root.exists():
        _debian(machine, suite)
    _site(machine)
    _tree(machine, _modules(machine))
    return machine


def _debian(machine: Machine, suite: str) -> None:
    """Debian's packages of aarch64, from where this machine has its own from, unpacked."""
    scratch = machine.folder / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    for name in ("state/lists/partial", "cache/archives/partial", "sources"):
        (scratch / name).mkdir(parents=True)
    site = _output("apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages", "Component: main")
    if not site:
        raise InputError("apt has no index of Debian's packages; run `apt-get update`, with Debian's sources")
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    lines = (
        "Types: deb",
        f"URIs: {site.splitlines()[0]}",
        f"Suites: {suite}",
        "Components: main",
        f"Signed-By: {keys}",
    )
    (scratch / "sources/debian.sources").write_text("".join(f"{line}\n" for line in lines))
    options = ("APT::Architecture=arm64", "APT::Architectures=arm64", "Acquire::Languages=none")
    options += (f"Dir::State={scratch}/state", f"Dir::Cache={scratch}/cache", "Dir::Etc::sourcelist=/dev/null")
    options += (f"Dir::Etc::sourceparts={scratch}/sources", f"Dir::State::status={scratch}/status")
    (scratch / "status").touch()
    _checked("apt-get", *(word for option in options for word in ("-o", option)), "-qq", "update")
    packages = closure(scratch, WANTED, options)
    for name in ("bin", "lib", "sbin"):  # as on a machine whose /usr is merged
        (scratch / "root/usr" / name).mkdir(parents=True)
        (scratch / "root" / name).symlink_to(f"usr/{name}")
    unpack(packages, scratch).rename(machine.root)
    shutil.rmtree(scratch)


def _site(machine: Machine) -> None:
    """The locked wheels that the tests here need: all of demo.lock and build.lock, pytest and what it brings."""
    locks = ROOT / "requirements"
    left_out = {"z3-solver"} if machine.glibc < Z3_GLIBC else set()
    entries = [e for lock in ("demo", "build") for e in _entries(locks / f"{lock}.lock") if _name(e) not in left_out]
    entries += [e for e in _entries(locks / "test.lock") if _name(e) in TOOLS and e not in entries]
    wanted, stamp = "\n".join(entries), machine.folder / "site.lock"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    shutil.rmtree(machine.site, ignore_errors=True)
    stamp.unlink(missing_ok=True)
    lock = machine.folder / "wanted.lock"
    lock.write_text(wanted)
    platform = f"aarch64-manylinux_2_{min(machine.glibc, 40)}"  # uv knows none later
    _checked(
        *(ROOT / ".venv/bin/uv", "pip", "install", "--quiet", "--target", machine.site, "--python-platform", platform),
        *("--python-version", machine.version, "--require-hashes", "--only-binary", ":all:", "--no-deps", "-r", lock),
    )
    lock.rename(stamp)


def _modules(machine: Machine) -> Path:
    """The compiled modules, by GCC and with Debian's headers of its Python."""
    if shutil.which(COMPILER) is None:
        raise InputError(f"{COMPILER} is not here; install it: sudo apt-get install g++-aarch64-linux-gnu")
    work, build = machine.folder / "modules", machine.folder / "modules/build"
    headers = work / "include/aarch64-linux-gnu"
    headers.mkdir(parents=True, exist_ok=True)
    name = f"python{machine.version}"
    if not (headers / name).exists():  # alone: beside it are headers of the C library, and the compiler has its own
        (headers / name).symlink_to(machine.root / "usr/include/aarch64-linux-gnu" / name)
    settings = " ".join(f"{k}='{v}'" for k, v in machine.environment().items() if k.startswith(("QEMU", "PYTHON")))
    python = _program(work / "python", f"{settings} exec {machine.python}")
    stable = [] if machine.version == "3.11" else ["-DSKBUILD_SABI_COMPONENT=Development.SABIModule"]
    cmake, ninja = (ROOT / ".venv/bin" / tool for tool in ("cmake", "ninja"))
    _checked(
        *(*handed_over(), cmake, "-G", "Ninja", "-S", ROOT / "netsim/core", "-B", build),
        *(f"-DCMAKE_MAKE_PROGRAM={ninja}", f"-DCMAKE_CXX_COMPILER={COMPILER}", f"-DPython_EXECUTABLE={python}"),
        *("-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64", *stable),
        f"-DCMAKE_CXX_FLAGS=-I{work / 'include'}",
    )
    _checked(*handed_over(), cmake, "--build", build)
    return build


def _tree(machine: Machine, modules: Path) -> None:
    """rlcc's files as git has them or would, with the modules where a wheel has them, and rlcc's metadata."""
    shutil.rmtree(machine.tree, ignore_errors=True)
    listed = _output("git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard")
    for name in listed.splitlines():
        if (ROOT / name).is_file():
            (machine.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, machine.tree / name)
    for package, module in (("netsim", "_core"), ("emulator", "_fast"), ("teachers", "_mkl")):
        (compiled,) = modules.glob(f"{module}.*so")
        shutil.copy(compiled, machine.tree / package)
    rlcc = distribution("rlcc")
    metadata = machine.site / f"rlcc-{rlcc.version}.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text(rlcc.read_text("METADATA") or "")


def _entries(lock: Path) -> list[str]:
    """A requirement each, with its hashes."""
    return [entry.rstrip() for entry in re.split(r"\n(?=\S)", lock.read_text()) if not entry.startswith("#")]


def _name(entry: str) -> str:
    return entry.partition("==")[0]


def _program(path: Path, line: str) -> Path:
    """A shell script that passes its arguments on."""
    path.write_text(f'#!/bin/sh\n{line} "$@"\n')
    path.chmod(0o755)
    return path


def _output(*command: object) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _checked(*command: object) -> None:
    """InputError with the end of what a command says where it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        raise InputError(f"{Path(words[0]).name} failed: {said[-2000:]}")

"""The parts of the machine: QEMU with its libraries, the kernel, the initramfs. Made once and kept in the cache."""

import hashlib
import json
import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from decision.artefact.build_cache import built_once
from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from emulator.compile import tool_environment, zig_command
from emulator.linux.cpio import archive
from emulator.linux.packages import WANTED, Package, closure, unpack

MACHINE = "x86_64"
"""Of the guest and of the programs it is made with: every measurement of it is of one machine, and so comparable."""
GUEST = Path(__file__).resolve().parent / "guest"
MODULES = ("veth", "sch_netem", "sch_fq", "sch_tbf", "sch_red", "tcp_dctcp", "tcp_bbr")
LIBRARIES = (f"lib/{MACHINE}-linux-gnu", f"usr/lib/{MACHINE}-linux-gnu")
LOADER = f"lib/{MACHINE}-linux-gnu/ld-linux-x86-64.so.2"
QEMU_MODULES = f"usr/lib/{MACHINE}-linux-gnu/qemu"
TOOLS = {"bin/ip": "bin/ip", "sbin/tc": "sbin/tc", "sbin/bpftool": "usr/sbin/bpftool"}
"""Of the guest: from where in the packages."""
MIN_BYTES = 2 << 30
"""Free room that unpacking takes for a while; 62 MB stay."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Parts:
    """``packages``: name, version and SHA-256 of every package; ``hash``: of kernel, initramfs and QEMU."""

    folder: Path
    kernel_release: str
    packages: tuple[dict[str, str], ...]
    hash: str

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def initramfs(self) -> Path:
        return self.folder / "initramfs"

    def qemu(self) -> list[str]:
        """The command, by the loader of its own packages, so that it needs no library of this machine."""
        libraries = self.folder / "qemu" / "lib"
        return [str(libraries / Path(LOADER).name), "--library-path", str(libraries), str(self.folder / "qemu/qemu")]

    def version(self, name: str) -> str:
        return next(package["version"] for package in self.packages if package["name"] == name)


def machine_parts(progress: Progress | None = None) -> Parts:
    """The parts from the cache, or made from packages: two minutes and 125 MB of download. InputError on another
    machine than MACHINE, whose packages they are made of."""
    if (here := platform.machine()) != MACHINE:
        raise InputError(
            f"the Linux bed is a {MACHINE} guest, made of Debian's packages for {MACHINE}, and this machine is {here}; "
            f"run it on {MACHINE}"
        )
    key = hashlib.sha256()
    for text in ("1", *WANTED, *MODULES, *TOOLS):
        key.update(text.encode() + b"\0")
    folder = built_once("linux-bed", key.hexdigest()[:16], lambda work: _build(work, progress or (lambda _: None)))
    return _checked(folder)


@cache
def _checked(folder: Path) -> Parts:
    """Returns the parts in the cache, each file as it was written."""
    mend = f"remove {folder}, and it is made anew"
    try:
        facts = json.loads((folder / "parts.json").read_text())
        for name, digest in facts["files"].items():
            if _digest(folder / name) != digest:
                raise InputError(f"{folder / name} is not what was built; {mend}")
        return Parts(folder, facts["kernel_release"], tuple(facts["packages"]), facts["hash"])
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"the Linux bed's parts cannot be read ({error}); {mend}") from None


def agent() -> dict[str, bytes]:
    """The guest's own two files: /init, and bin/bed, a static program by the pinned compiler."""
    source = GUEST / "bed.c"

    def build(work: Path) -> None:
        command = [zig_command(), "cc", "-target", f"{MACHINE}-linux-musl", "-O2", "-static", "-s", "-std=gnu11"]
        command += ["-o", str(work / "bed"), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, env=tool_environment())
        if done.returncode:
            raise InputError(f"{source} does not compile: {done.stderr.strip()[-300:]}")

    folder = built_once("linux-bed-agent", _digest(source)[:16], build)
    return {"init": (GUEST / "init").read_bytes(), "bin/bed": (folder / "bed").read_bytes()}


def _build(work: Path, progress: Progress) -> None:
    if shutil.disk_usage(work).free < MIN_BYTES:
        raise InputError(f"{work.parent}: unpacking the Linux bed takes 2 GB for a while; free room there")
    scratch = work / "scratch"
    scratch.mkdir()
    progress("asking apt for packages")
    packages = closure(scratch)
    progress(f"downloading {len(packages)} packages")
    root = unpack(packages, scratch)
    progress("building the initramfs")
    release = _kernel(root, work)
    _initramfs(root, work, release)
    _qemu(root, work)
    shutil.rmtree(scratch)
    files = {str(f.relative_to(work)): _digest(f) for f in sorted(work.rglob("*")) if f.is_file()}
    whole = hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()
    facts = {"kernel_release": release, "hash": whole, "files": files, "packages": [_told(p) for p in packages]}
    (work / "parts.json").write_text(dump_json(facts))


def _told(package: Package) -> dict[str, str]:
    return {"name": package.name, "version": package.version, "sha256": package.sha256}


def _kernel(root: Path, work: Path) -> str:
    """The release of the kernel, which is copied."""
    kernels = sorted((root / "boot").glob("vmlinuz-*"))
    if not kernels:
        raise InputError("the package linux-image-amd64 brought no kernel; run `apt-get update` and try again")
    release = kernels[-1].name.removeprefix("vmlinuz-")
    config = (root / "boot" / f"config-{release}").read_text()
    for option in ("CONFIG_DEBUG_INFO_BTF", "CONFIG_BPF_JIT"):
        if f"{option}=y" not in config:
            raise InputError(f"the kernel {release} was built without {option}; a congestion control in BPF needs it")
    shutil.copyfile(kernels[-1], work / "vmlinuz")
    return release


def _initramfs(root: Path, work: Path, release: str) -> None:
    files = {"bin/busybox": (root / "bin/busybox").read_bytes()}
    for name, source in TOOLS.items():
        files[name] = (root / source).read_bytes()
        for library in _libraries(root, root / source):
            files[f"lib/{library.name}"] = library.read_bytes()
    loader = Path(LOADER).name
    files[f"lib64/{loader}"] = (root / LOADER).read_bytes()
    for number, module in enumerate(_modules(root, release)):
        files[f"modules/{number:02}-{module.name}"] = module.read_bytes()
    (work / "initramfs").write_bytes(archive(files))


def _modules(root: Path, release: str) -> list[Path]:
    """The files of MODULES, each after what it depends on."""
    there = {f.stem.replace("-", "_"): f for f in (root / "lib/modules" / release).rglob("*.ko")}
    order: dict[str, Path] = {}

    def add(name: str) -> None:
        if name in order:
            return
        if name not in there:
            raise InputError(f"the kernel {release} has no module {name}; the Linux bed needs {', '.join(MODULES)}")
        depends = re.search(rb"\0depends=([^\0]*)\0", there[name].read_bytes())
        for needed in depends[1].decode().split(",") if depends and depends[1] else []:
            add(needed.replace("-", "_"))
        order[name] = there[name]

    for name in MODULES:
        add(name)
    return list(order.values())


def _libraries(root: Path, program: Path) -> list[Path]:
    """The shared libraries that a program of the packages loads, as its own loader finds them."""
    path = ":".join(str(root / folder) for folder in LIBRARIES)
    done = subprocess.run(
        [str(root / LOADER), "--library-path", path, "--list", str(program)], capture_output=True, text=True
    )
    if done.returncode or "not found" in done.stdout:
        raise InputError(
            f"{program.name} of the packages lacks a library: {(done.stderr or done.stdout).strip()[-200:]}"
        )
    return [Path(m[1]) for m in re.finditer(r"=> (\S+) \(", done.stdout) if str(root) in m[1]]


def _qemu(root: Path, work: Path) -> None:
    """The program, its libraries and loader, the accelerator's module, the firmware."""
    folder = work / "qemu"
    for name in ("lib", "modules", "data"):
        (folder / name).mkdir(parents=True)
    program = root / f"usr/bin/qemu-system-{MACHINE}"
    shutil.copy(program, folder / "qemu")
    accelerators = sorted((root / QEMU_MODULES).glob("accel-tcg-*.so"))
    for module in accelerators:
        shutil.copy(module, folder / "modules")
    for library in {f for p in (program, *accelerators) for f in _libraries(root, p)} | {root / LOADER}:
        shutil.copy(library, folder / "lib")
    for name in ("qemu/linuxboot_dma.bin", "qemu/kvmvapic.bin", "seabios/bios-256k.bin"):
        shutil.copy(root / "usr/share" / name, folder / "data")


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()

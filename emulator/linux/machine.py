"""One boot of the guest: a job goes in as a second initramfs, its lines come out by the debug console.

Virtual time: an instruction lasts 1 ns, and while nothing runs the clock jumps to the next event. The seed is all that
the guest knows of chance.
"""

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from decision.artefact.errors import InputError
from emulator.linux.cpio import archive
from emulator.linux.parts import Parts, agent

MEMORY_MB = 512
SECONDS = 3600
"""Of this machine's time, after which the guest is ended."""
BOOT = (
    "console=ttyS0 panic=-1 quiet rdinit=/init random.trust_bootloader=on clocksource=tsc tsc=reliable nokaslr "
    "mitigations=off audit=0 cgroup_disable=memory"
)
END = "END"


def boot(
    parts: Parts, files: Mapping[str, bytes], seed: int, *, memory_mb: int = MEMORY_MB, seconds: int = SECONDS
) -> list[str]:
    """The lines that ``job/run`` of ``files`` wrote. InputError where the guest did not come to its end."""
    with tempfile.TemporaryDirectory(prefix="linux-bed-") as name:
        work = Path(name)
        initramfs, lines, console = work / "initramfs", work / "lines", work / "console"
        initramfs.write_bytes(parts.initramfs.read_bytes() + archive({**agent(), **files}))
        command = [*parts.qemu(), *options(parts, initramfs, lines, console, seed, memory_mb)]
        environment = {"QEMU_MODULE_DIR": str(parts.folder / "qemu/modules"), "LC_ALL": "C"}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=seconds, env=environment, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            raise InputError(f"the guest did not end within {seconds} s; give it a shorter --duration") from None
        except OSError as error:
            raise InputError(
                f"QEMU does not start ({error.strerror}); remove {parts.folder}, and it is made anew"
            ) from None
        text = lines.read_text(errors="replace").splitlines() if lines.is_file() else []
        if not text or text[-1] != END:
            raise InputError(_why(done, console))
        return text[:-1]


def options(parts: Parts, initramfs: Path, lines: Path, console: Path, seed: int, memory_mb: int) -> list[str]:
    """QEMU's, all but the program."""
    return [
        *("-L", str(parts.folder / "qemu/data"), "-nodefaults", "-display", "none", "-nic", "none", "-no-reboot"),
        *("-machine", "pc,acpi=on", "-accel", "tcg,thread=single", "-cpu", "max,-rdrand,-rdseed", "-smp", "1"),
        *("-icount", "shift=0,sleep=off,align=off", "-rtc", "base=2026-01-01,clock=vm", "-seed", str(seed)),
        *("-m", str(memory_mb), "-kernel", str(parts.kernel), "-initrd", str(initramfs), "-append", BOOT),
        *("-chardev", f"file,id=lines,path={lines}", "-device", "isa-debugcon,iobase=0xe9,chardev=lines"),
        *("-serial", f"file:{console}"),
    ]


def _why(done: "subprocess.CompletedProcess[str]", console: Path) -> str:
    """Returns the last message of QEMU or the guest's kernel."""
    if done.returncode < 0:
        return f"QEMU was ended by signal {-done.returncode} before the guest came to its end; run it again"
    said = [line for line in done.stderr.splitlines() if line.strip()]
    if done.returncode and said:
        return f"QEMU does not run the guest: {said[-1].strip()[-300:]}"
    kernel = console.read_text(errors="replace").splitlines() if console.is_file() else []
    panic = next(
        (line for line in kernel if "panic" in line.lower()), kernel[-1] if kernel else "its kernel said nothing"
    )
    return f"the guest did not come to its end: {panic.strip()[-300:]}"

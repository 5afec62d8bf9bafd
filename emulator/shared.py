"""The emitted C as a shared library for the simulator: the same source, compiled for the host by the pinned clang."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from emulator.compile import NO_ASSEMBLY, run_tool, zig_command
from emulator.firmware import read_firmware

EXPORTS = """#include "rlcc_policy.h"
extern const uint32_t rlcc_flow_bytes;
const uint32_t rlcc_flow_bytes = (uint32_t)sizeof(rlcc_flow);
"""
"""The library also tells how large a flow's context is."""


@contextmanager
def shared_library(firmware_dir: Path) -> Iterator[Path]:
    """A shared library of a verified firmware folder, with rlcc_decide and rlcc_flow_bytes, while the context lasts."""
    firmware = read_firmware(Path(firmware_dir))
    with tempfile.TemporaryDirectory(prefix="rlcc-") as name:
        exports, library = Path(name) / "exports.c", Path(name) / "policy.so"
        exports.write_text(EXPORTS)
        flags = ("-std=c99", "-O2", "-g0", "-fPIC", "-shared", "-fno-sanitize=all", NO_ASSEMBLY)
        with firmware.sources.copied(Path(name) / "sources") as source:
            command = [zig_command(), "cc", *flags, "-iquote", str(source.parent), str(source), str(exports)]
            run_tool([*command, "-o", str(library)], f"{firmware.source} does not compile")
        yield library

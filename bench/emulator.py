"""Decisions a second on the Verilated cores: wall and CPU time, one process and as many as there are processors.

The vectors of a firmware folder (without one: that of `make demo`), over and over. `cpu` is what a process does in a
second of its own, whatever else the machine does; `wall` is what one waits for. The best of three runs counts.

    python -m bench.emulator runs/rl-cc/firmware ibex-small ibex-maxperf
"""

import argparse
import os
import platform
import tempfile
import time
from pathlib import Path

import numpy as np

from decision.artefact.processors import usable_cores
from emulator.compile import compile_sources, link_program, toolchain
from emulator.core_run import run_on_core
from emulator.elf import read_image
from emulator.firmware import ENTRY
from emulator.firmware_folder import read_firmware
from emulator.profile import load_profile
from emulator.run import blocks
from emulator.vectors import vectors_of
from rlcc.origin import processor

FIRMWARE = Path(__file__).resolve().parents[1] / "runs" / "rl-cc" / "firmware"
DECISIONS, REPEATS = 40_000, 3


def measure(firmware_dir: Path, name: str, processes: int) -> tuple[float, float, float]:
    """Decisions a second of wall time and of CPU time, and million core cycles a second of CPU time."""
    profile, firmware = load_profile(name), read_firmware(firmware_dir)
    picked = np.arange(DECISIONS) % len(vectors_of(firmware))
    records = [(block, data[picked]) for block, data in blocks(firmware)]
    wall = cpu = cycles = 0.0
    with tempfile.TemporaryDirectory(prefix="rlcc-") as folder_name:
        folder = Path(folder_name)
        policy = compile_sources(firmware.sources, toolchain(profile), folder=folder)
        image = read_image(link_program(policy, ENTRY, profile, folder))
        run_on_core(image, ENTRY, profile, [(block, data[:1]) for block, data in records])  # builds the core
        for _ in range(REPEATS):
            before, begin = os.times(), time.perf_counter()
            run = run_on_core(image, ENTRY, profile, records, processes=processes)
            seconds, after = time.perf_counter() - begin, os.times()
            used = sum(after[2:4]) - sum(before[2:4])  # of child processes
            wall, cpu = max(wall, DECISIONS / seconds), max(cpu, DECISIONS / used)
            cycles = max(cycles, float(run.cycles.sum() + run.between.sum()) / used / 1e6)
    return wall, cpu, cycles


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.emulator", description="Decisions a second on the RTL.")
    parser.add_argument("firmware", nargs="?", type=Path, default=FIRMWARE, help="folder; that of `make demo`")
    parser.add_argument("profile", nargs="*", help="engine profiles; ibex-small")
    options = parser.parse_args()
    if not options.firmware.is_dir():
        raise SystemExit(f"there is no firmware in {options.firmware}; make it with: make demo")
    processors = usable_cores()
    print(f"{processors} processors, {processor()}, {platform.system()}")
    print(f"{'profile':<24}{'processes':>10}{'wall':>12}{'cpu':>12}{'Mcycles/cpu s':>16}")
    for name in options.profile or ["ibex-small"]:
        for processes in sorted({1, processors}):
            wall, cpu, cycles = measure(options.firmware, name, processes)
            print(f"{name:<24}{processes:>10}{wall:>12,.0f}{cpu:>12,.0f}{cycles:>16.2f}")


if __name__ == "__main__":
    main()

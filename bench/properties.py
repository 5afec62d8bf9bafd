"""Behaviour of distilled policies for all inputs: every property of verify/behaviour, without a limit, of firmware
folders.

python -m bench.properties FIRMWARE.. --out docs/results/properties.md
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from decision.artefact.output import write_atomically
from emulator.firmware_folder import read_firmware
from rlcc.gate.behaviour import decided_twice
from rlcc.origin import made_by
from verify.behaviour.decide import Behaviour
from verify.trusted.properties import ALL

HEAD = """# What the policies do
{made_by}

Each is [decided for all inputs](../reference/properties.md), by two programs, on the program that the firmware's
certificate ties to the machine code. "Found": no limit was asked for, the least that holds is told.
"""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.properties", description=__doc__)
    parser.add_argument("firmware", nargs="+", type=Path, help="Folders of distilled policies.")
    parser.add_argument("--out", type=Path, required=True, help="The page.")
    options = parser.parse_args(arguments)
    sections = []
    for folder in options.firmware:
        begin = time.process_time()
        firmware = read_firmware(folder)
        behaviour = decided_twice(firmware, ALL.property)
        seconds = time.process_time() - begin
        sections.append(section(str(firmware.manifest.details["policy"]), behaviour, seconds))
        print(f"{folder}: {len(behaviour.findings)} properties, {seconds:.1f} s of CPU", file=sys.stderr)
    write_atomically(options.out, "\n".join([HEAD.format(made_by=made_by("python -m bench.properties")), *sections]))
    return 0


def section(name: str, behaviour: Behaviour, seconds: float) -> str:
    """A policy's table."""
    rows = [f"| {finding.verdict} | {finding.says} | {finding.value} |" for finding in behaviour.findings]
    head = [f"## {name}", "", f"Program `{behaviour.program[:12]}`, {seconds:.1f} s of CPU.", ""]
    return "\n".join([*head, "| | property | found |", "|---|---|---|", *rows, ""])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

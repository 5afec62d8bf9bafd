"""`python tests/aarch64 RUN`: make an aarch64 machine under build/, run rlcc on it by QEMU, compare it with this one.

make test-aarch64                                   Debian's Python 3.13, the student of runs/rl-cc
make test-aarch64 SUITE=bookworm RUN=...            Debian's Python 3.11
"""

import argparse
import json
import sys
from pathlib import Path

import machine
import runs

from decision.artefact.errors import InputError


def main() -> int:
    """Exit code 0: all as on this machine, 1: something is not, 2: it could not run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("run", type=Path, help="A folder of `rlcc run`, with a student.")
    parser.add_argument("--suite", default="trixie", help="Of Debian: bookworm has Python 3.11, trixie 3.13, sid 3.14.")
    options = parser.parse_args()
    try:
        if not (options.run / "student").is_dir():
            raise InputError(f"{options.run} has no student; make one with `make demo`")
        made = machine.make(machine.ROOT / "build/aarch64" / options.suite, options.suite)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"aarch64: Python {made.version}, glibc 2.{made.glibc}", flush=True)
    found = []
    for run in runs.runs(made, options.run.resolve()):
        found.append(run)
        print(f"{'FAILED' if run.failed else 'ok':7} {run.seconds:7.1f} s  {run.name}: {run.figure}", flush=True)
        if run.failed:
            print(run.failed, file=sys.stderr, flush=True)
    (made.folder / "report.json").write_text(json.dumps(runs.report(found, made), indent=2) + "\n")
    return 1 if any(run.failed for run in found) else 0


if __name__ == "__main__":
    raise SystemExit(main())

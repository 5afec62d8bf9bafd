"""Write docs/results/nscc.md: NSCC in integers next to exact rationals and floats, and its proved bound of cycles.

python -m bench.nscc [--events N] [--out FILE]
"""

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

from bench.nscc.compare import NsccComparison, compare
from bench.nscc.events import trajectory
from bench.nscc.exact import Numbers
from codegen.algorithm_body import emit_algorithm
from codegen.emit import Emission
from codegen.targets import BARE, HOST
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.policy.nscc import NsccPath, NsccSteps, nscc_params, nscc_program
from emulator.firmware_folder import built
from emulator.run import run_vectors
from rlcc.origin import made_by
from rlcc.reports.pages import table
from verify.code.failures import Failure
from verify.ranges.bound import bounded

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "results" / "nscc.md"
DOCUMENT = ROOT / "docs" / "window" / "nscc.toml"
PROFILE = "ibex-small"
SPEED = ROOT / "bench" / "host_speed.c"
RUNS = 101
AIM = 20
"""ns an acknowledgement."""
SEEDS = range(8)
NETWORKS = {
    "25 Gb/s, 8 us, 1 KiB": NsccPath(1024, 25 * 10**9, 8_000),
    "100 Gb/s, 12 us, 4 KiB": NsccPath(4096, 100 * 10**9, 12_000),
    "400 Gb/s, 20 us, 4 KiB": NsccPath(4096, 400 * 10**9, 20_000),
    "100 Gb/s, 80 us, 4 KiB": NsccPath(4096, 100 * 10**9, 80_000),
}


@dataclass(frozen=True)
class NsccCost:
    """Cycles that no input exceeds (proved), the mean and most of the vectors on the Verilated core; bytes; vectors
    that differ from the program."""

    bound: int
    mean: float
    most: int
    vectors: int
    wrong: int
    code: int | None
    stack: int | None
    context: int


def cost() -> NsccCost:
    """Returns the costs of the shipped document. InputError where the bound is not proved."""
    with TemporaryDirectory() as place:
        folder = Path(place) / "firmware"
        details = emit_algorithm(DOCUMENT, folder, Emission(BARE.name, 1))
        build = built(folder, profile=PROFILE)
        bound, report = bounded(build), run_vectors(build, lambda _: None)
    if isinstance(bound, Failure) or report.cycles is None:
        raise InputError(f"no bound of {DOCUMENT.name}: {bound if isinstance(bound, Failure) else report.fault}")
    return NsccCost(
        bound.cycles,
        report.cycles.mean,
        report.cycles.max,
        report.vectors,
        report.mismatches,
        report.code_bytes,
        report.stack_bytes_measured,
        details["context_bytes"],
    )


def speed() -> dict[str, list[float]]:
    """Returns CPU ns an acknowledgement, a run each, by the target `host` (``nscc``) and by Swift in doubles."""
    found: dict[str, list[float]] = {}
    with TemporaryDirectory() as place:
        folder, binary = Path(place) / "firmware", Path(place) / "speed"
        emit_algorithm(DOCUMENT, folder, Emission(HOST.name, 1))
        subprocess.run(["cc", "-std=c99", "-O2", f"-I{folder}", str(SPEED), "-o", str(binary)], check=True)
        for _ in range(RUNS):
            text = subprocess.run([str(binary)], capture_output=True, text=True, check=True).stdout
            for line in text.splitlines():
                name, nanoseconds, _ = line.split()
                found.setdefault(name, []).append(float(nanoseconds))
    return found


def row(name: str, found: NsccComparison) -> list[str]:
    off = np.array(found.off)
    return [
        name,
        f"{found.events:,}",
        str(found.unequal),
        f"{np.median(off):.3%}",
        f"{np.quantile(off, 0.99):.2%}",
        f"{off.max():.2%}",
        f"{found.other_branch / found.events:.2%}",
    ]


def _speeds(name: str, runs: list[float]) -> list[str]:
    return [name, f"{min(runs):.1f}", f"{median(runs):.1f}"]


def _aim(runs: list[float]) -> str:
    met = "met" if median(runs) <= AIM else "met by the fastest run alone" if min(runs) <= AIM else "not met"
    return f"The aim of {AIM} ns an acknowledgement is {met}."


def page(found: dict[str, NsccComparison], costs: NsccCost, host: Mapping[str, list[float]], command: str) -> str:
    """The page as Markdown."""
    head = ["network, base RTT, packet", "events", "unequal to exact", "median", "99 %", "largest", "other rule"]
    names = sorted({name for each in found.values() for name in each.branches})
    rules = [[name, *(f"{each.branches[name]:,}" for each in found.values())] for name in names]
    return f"""# NSCC as an integer program
{made_by(command)}

NSCC is the sender's congestion control of [Ultra Ethernet](../reference/bibliography.md). `decision/policy/nscc.py`
states it as a decision program in integers; [windows](../how-to/windows.md) shows how to emit it. This page compares
the program with two references that share no code with it:

- `bench/nscc/exact.py`: exact rationals, with the floors and caps that the program states
- `bench/nscc/floats.py`: doubles without these floors and caps

All three take the same integer parameters: the rounding of settings is no part of a difference.

The events are spells of an empty, a filling and a full network with marks, losses and RTTs that were not timed
(`bench/nscc/events.py`, seeds 0 to {len(SEEDS) - 1}). All three start from a new flow and see the same events.

{table(head, [row(name, each) for name, each in found.items()])}
*Unequal to exact* counts events after which any field of the context differs from the exact reference; it should be 0.
*Median*, *99 %* and *largest* are differences of the window from the float's, as shares of the float's. The two run
freely, so that a difference lasts until both windows meet a limit. *Other rule* counts events at which a floor made the
program take another rule than the floats.

## Events by rule

{table(["rule", *found], rules)}
## Cost
The document is `docs/window/nscc.toml`, compiled by clang -O2 for `{PROFILE}`.

| figure | value |
|---|---|
| worst case, proved: no input takes more cycles | {costs.bound} cycles |
| on the Verilated core, mean of {costs.vectors:,} vectors | {costs.mean:.0f} cycles |
| on the Verilated core, slowest vector | {costs.most} cycles |
| vectors with another result than the program | {costs.wrong} of {costs.vectors:,} |
| code | {costs.code} B |
| stack | {costs.stack} B |
| context of a flow | {costs.context} B |

The prover shows that the machine code is safe and bounds its cycles (`rlcc verify --bound`). Equality of machine code
and program for all inputs is not proved: the paths of its choices multiply. Equality of the machine code rests on
vectors.

Two formats of the growth make most of the differences. The window grows in whole units of 128 bytes, which a small BDP
notices most. It grows by 128 KiB at once at most, which a large BDP notices after quick adapt: the window is small, and
the floats grow by all that is pending. The rest remains pending.

## On a host
The target `host` ([NSCC in host software](../how-to/windows.md#in-host-software)) is compiled by `cc -O2`. A call of
`rlcc_host_sent` and one of `rlcc_host_acknowledged` make an acknowledgement. Swift in doubles takes the same ones,
without loss, pacing and flow scaling (`bench/host_speed.c`, {RUNS} runs in turn).

{table(["CPU ns an acknowledgement", "fastest run", "median"], [_speeds(*each) for each in host.items()])}
{_aim(host["nscc"])} Other work on the processor makes a run slower, never faster.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, 1 where the program differs from the exact reference, 2 where the page could not be made."""
    parser = argparse.ArgumentParser(prog="python -m bench.nscc", description="NSCC next to two references.")
    parser.add_argument("--events", type=int, default=10_000, help="events a trajectory; 10000")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    program, found = nscc_program(), {}
    try:
        for name, network in NETWORKS.items():
            params = nscc_params(network, NsccSteps())
            numbers = Numbers.of(params)
            runs = [list(trajectory(seed, numbers, options.events)) for seed in SEEDS]
            found[name] = compare(program, params, runs)
        write_atomically(options.out, page(found, cost(), speed(), "python -m bench.nscc"))
    except InputError as error:
        print(f"nscc: {error}", file=sys.stderr)
        return 2
    return 1 if any(each.unequal for each in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

"""Makes docs/results/on-device.md: what verdicts say of policies on the model of a device (`gate.device`).

    python -m bench.on_device VERDICT [VERDICT ..] [--out FILE]

A verdict is a folder that `rlcc run` or `rlcc gate --device` wrote. Each is a table: goodput and the 99th percentile of
the latency, by hosts and queue pairs and by what the device was tried with.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from decision.artefact.documents import load_json
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from rlcc.gate.on_device import GOODPUT, REORDER, REORDER_BY_PS, TAIL, OnDevice, within
from rlcc.gate.verdict import Verdict, parsed
from rlcc.origin import made_by
from rlcc.reports.pages import table

PAGE = Path(__file__).resolve().parents[1] / "docs" / "results" / "on-device.md"


def verdict_of(folder: Path) -> Verdict:
    """Returns the verdict of a folder. InputError where it has none, or no device was judged on."""
    path = folder / "verdict.json"
    verdict = parsed(load_json(path), str(path))
    if "device" not in verdict.measured:
        raise InputError(f"{path} was judged on no device; give one of rlcc gate --device, such as bluefield3")
    return verdict


def section(verdict: Verdict) -> str:
    """Returns the heading, the outcome and the table of a verdict."""
    device: Mapping[str, Any] = verdict.measured["device"]
    runs = [OnDevice(**one) for one in device["runs"]]
    failed = verdict.failures()
    of_device = sum(check.id.startswith("network.device.") for check in failed)
    cases = list(dict.fromkeys((one.flows, one.reorder) for one in runs))
    heading = [f"{flows} a context{', reordered' if reorder else ''}" for flows, reorder in cases]
    rows = []
    for scenario in dict.fromkeys(one.scenario for one in runs):
        mine = {(one.flows, one.reorder): one for one in runs if one.scenario == scenario}
        first = mine[cases[0]]
        without = f"{first.goodput_without:.4f} / {first.p99_without_us:.1f}"
        rows.append([scenario.removeprefix("many-to-one:"), without, *(_cell(mine[case]) for case in cases)])
    classes = Counter(fact["evidence"] for fact in device["facts"].values())
    failing = f", and {of_device} of the {len(failed)} that fail are on the device" if failed else ""
    return (
        f"## {verdict.policy} on `{device['name']}`\n\n"
        f"{verdict.outcome}: {len(verdict.checks) - len(failed)} of {len(verdict.checks)} checks pass{failing}. "
        f"Firmware `{verdict.firmware[:12]}`, {_cycles(verdict)}.\n\n"
        f"{table(['hosts x pairs', 'no device, own contexts', *heading], rows)}\n"
        f"{device['title']}: {', '.join(f'{count} values {name}' for name, count in classes.items())}.\n"
    )


def _cycles(verdict: Verdict) -> str:
    proved = verdict.measured["worst_case_cycles"]
    if proved is not None:
        return f"at most {proved} cycles on {verdict.profile}, proved"
    return f"{verdict.measured['emulation']['cycles']['max']} cycles on {verdict.profile} at the slowest vector"


def _cell(one: OnDevice) -> str:
    text = f"{one.goodput:.4f} / {one.p99_us:.1f}"
    return text if all(within(one)) else f"**{text}**"


def page(verdicts: Sequence[Verdict]) -> str:
    """Returns the page as Markdown."""
    return f"""# Policies on the model of a device
{made_by("python -m bench.on_device VERDICT ..")}

Goodput / 99th percentile of the latency in us, means over the gate's seeds, many-to-one. **Bold** fails: goodput more
than {GOODPUT:g} below that with no device, or p99 more than {TAIL:g} times as long. *Reordered*: the events of
{REORDER:.0%} of the responses come up to {REORDER_BY_PS / 1e6:g} us late. Nobody has measured how often a card reorders
events. The device's values and their evidence: `decision/devices/`.

{chr(10).join(section(verdict) for verdict in verdicts)}"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page and returns 0, or prints the reason why not and returns 2."""
    parser = argparse.ArgumentParser(prog="python -m bench.on_device", description="Policies on a device's model.")
    parser.add_argument("verdicts", nargs="+", type=Path, metavar="VERDICT", help="folder of a verdict")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        write_atomically(options.out, page([verdict_of(folder) for folder in options.verdicts]))
    except InputError as error:
        print(f"on_device: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""python -m papers.table1 [--student FOLDER] [--work FOLDER] [--docs FOLDER]"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from decision.artefact.documents import load_json
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from emulator.profile import load_profile
from emulator.run import emulate
from papers.contenders import PAGES, ROOT
from papers.table1.contenders import Contender, contenders
from papers.table1.fit import PAPER_US, fits
from papers.table1.network import closed_loop
from papers.table1.page import Row, write

PROFILE = "connectx6dx-proxy"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m papers.table1", description="RL-CC's Table 1 on the proxy.")
    parser.add_argument("--student", type=Path, default=ROOT / "runs/rl-cc/student", help="the trees; of `make demo`")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "table-1", help="kept firmware folders")
    parser.add_argument("--docs", type=Path, default=PAGES, help="where the page goes")
    options = parser.parse_args(arguments)
    console = Console(stderr=True)
    try:
        page = make(options.work, options.student, console)
        options.docs.mkdir(parents=True, exist_ok=True)
        write_atomically(options.docs / "connectx6dx-proxy.md", page.encode())
    except InputError as error:
        print(f"table-1: {error}", file=sys.stderr)
        return 2
    console.print(f"table-1: {options.docs / 'connectx6dx-proxy.md'}", highlight=False, soft_wrap=True)
    return 0


def make(work: Path, student: Path, console: Console) -> str:
    """Emit, measure, simulate, fit."""
    proxy = load_profile(PROFILE)

    def say(text: str) -> None:
        console.print(f"table-1: {text}", highlight=False, markup=False)

    rows = []
    made = contenders(work, student, say)
    for contender in made:
        say(f"{contender.name}: {contender.what} on {proxy.name}")
        report = emulate(contender.firmware, profile=proxy.name)
        if report.cycles is None or report.mismatches:
            raise InputError(f"{contender.firmware} does not run as it should: {report.fault or report.first_mismatch}")
        us = report.cycles.mean / report.clock_mhz
        say(f"{contender.name}: {us:.3g} us a decision, in the network")
        rows.append(Row(contender, _operations(contender), report, closed_loop(contender, us)))
    by_name = {row.contender.name: row for row in rows}
    say("LSTM: in the network as if it were as fast as the trees")
    quick = closed_loop(by_name["LSTM"].contender, by_name["trees"].mean_us)
    say("fit of the proxy")
    folders = {row.contender.name: row.contender.firmware for row in rows if row.contender.name in PAPER_US}
    return write(rows, quick, fits(folders), proxy)


def _operations(contender: Contender) -> str:
    details: dict[str, Any] = load_json(contender.firmware / "manifest.json")["details"]
    form = details.get("form") or {}
    if "multiply_accumulates" in form:
        return f"{form['multiply_accumulates']} multiply-accumulates, {form['table_lookups']} look-ups"
    student = load_json(contender.firmware / "student.json")
    trees = student["ensemble"]["trees"]
    depth = max(len(tree["splits"]) for tree in trees)
    return f"{len(trees)} trees of depth {depth}: {sum(len(t['splits']) for t in trees)} comparisons"


if __name__ == "__main__":
    sys.exit(main())

"""`rlcc observe FIRMWARE LOG`: what a window's policy would have done with recorded sends and completions."""

from pathlib import Path

from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from rlcc.commands.console import Figures, counted, stage
from rlcc.commands.options import not_within
from rlcc.gate.emission_check import emitted
from rlcc.observation.calls import read_calls
from rlcc.observation.parameters import read_params
from rlcc.observation.replay import replay
from rlcc.observation.report import HostReplayReport, Spread, report, rows_csv


def handle(
    firmware: Path, log: Path, params: tuple[str, ...], json_file: Path | None, out: Path | None, foreign: bool
) -> int:
    written = [place for place in (json_file, out) if place is not None]
    for place in written:
        not_within(firmware, place)
    if len({place.resolve() for place in (log, *written)}) <= len(written):
        raise InputError(f"LOG, --json and --out must be three files; {written[-1]} is named twice")
    with stage("observe") as (figures, progress):
        progress("reads the log")
        calls = read_calls(log)
        checked = emitted(firmware, foreign=foreign)
        values = read_params(checked, params)
        progress(f"replays {len(calls.sends):,} rows")
        replayed = replay(checked, calls, values)
        found = report(calls, replayed)
        if json_file is not None:
            write_atomically(json_file, dump_json(found.to_json()))
        if out is not None:
            write_atomically(out, rows_csv(calls, replayed))
        figures |= _figures(found)
    return 1 if found.differ else 0


def _figures(found: HostReplayReport) -> Figures:
    share = found.held_back / max(found.sends, 1)
    lost = ", ".join(f"{name} {count:,}" for name, count in found.lost_bytes.items())
    figures = {
        "flows": f"{found.flows:,}",
        "calls": f"{counted(found.sends, 'send')}, {counted(found.completions, 'completion')}",
        "acknowledged": f"{found.acked_bytes:,} of {found.sent_bytes:,} B sent, {found.marked_bytes:,} B marked",
        "lost": f"{lost} B",
        "window": f"{_text(found.window)}; decided after completions",
        "in flight": f"{_text(found.in_flight)}; recorded after sends",
        "held back": f"{found.held_back:,} of {counted(found.sends, 'send')} ({share:.1%}), "
        f"{found.held_back_bytes:,} B, by enforcing",
        "bad": ", ".join(f"{name} {count:,}" for name, count in found.bad.items()),
    }
    if found.recorded is not None:
        first = "" if found.first_difference is None else f", the first in row {found.first_difference:,}"
        figures["recorded"] = f"{found.differ:,} of {counted(found.recorded, 'window')} differ{first}"
    return figures


def _text(spread: Spread | None) -> str:
    if spread is None:
        return "none"
    inner = f"median {spread.median:,}, 90 % in {spread.low:,} to {spread.high:,}"
    return f"{spread.least:,} to {spread.greatest:,} B, {inner}"

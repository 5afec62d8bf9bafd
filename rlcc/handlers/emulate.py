"""`rlcc emulate FIRMWARE...`: run every vector on the cycle-accurate core."""

from pathlib import Path

import click
from rich.table import Table

from decision.artefact.documents import dump_json, validate
from decision.artefact.output import write_atomically
from emulator.build import Build, build
from emulator.firmware_folder import read_firmware
from emulator.image import build_image
from emulator.report import EmulationReport
from rlcc import stages
from rlcc.commands.console import console, stage
from rlcc.commands.model_options import given
from rlcc.commands.options import not_within
from rlcc.gate.emission_check import emitted
from rlcc.recipe import EmulateOptions


def handle(firmwares: tuple[Path, ...], json_file: Path | None, foreign: bool, **chosen: str | None) -> int:
    engine = validate(EmulateOptions, given(chosen), "options of rlcc emulate")
    if json_file is not None:
        for firmware in firmwares:
            not_within(firmware, json_file)
    read = [read_firmware(emitted(firmware, foreign=foreign)) for firmware in firmwares]
    tools = engine.toolchain()
    if len(read) == 1:
        reports = {read[0].prefix: _run("emulate", build(read[0], tools))}
    else:
        reports = {one.firmware.prefix: _run(f"emulate {one.firmware.prefix}", one) for one in build_image(read, tools)}
    if json_file is not None:
        contents = {prefix: report.to_json() for prefix, report in reports.items()}
        write_atomically(json_file, dump_json(contents[read[0].prefix] if len(read) == 1 else contents))
    return 0 if all(report.passed for report in reports.values()) else 1


def _run(name: str, made: Build) -> EmulationReport:
    """Runs and prints one firmware."""
    with stage(name) as (figures, progress):
        report = stages.emulate(made, figures, progress)
    if report.slowest is not None:
        click.echo(f"slowest: vector {report.slowest.index} ({report.slowest.kind}), {report.slowest.cycles} cycles")
        print_states(report)
    for wrong in (report.first_mismatch, report.fault, *report.forbidden, *report.oversized):
        if wrong:
            click.echo(wrong)
    return report


def print_states(report: EmulationReport) -> None:
    """A row for each state of the caches."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for column in ("mean", "p99", "max cycles", "max us", "code misses", "data misses"):
        table.add_column(column, justify="right")
    for name, state in report.states.items():
        cycles = state.cycles
        times = (f"{cycles.mean:.1f}", str(cycles.p99), str(cycles.max), f"{state.microseconds['max']:.3f}")
        table.add_row(name, *times, f"{state.instruction_misses:g}", f"{state.data_misses:g}")
    console().print(table)
    if report.runner_cycles is not None:
        click.echo(f"back-to-back: from entry to entry; {report.runner_cycles:g} cycles of it are the runner's own")
    if "cold" not in report.states:
        click.echo("no cache on this engine: cold, and after another flow's decision, it is as fast as hot")

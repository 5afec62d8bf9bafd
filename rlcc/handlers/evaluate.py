"""`rlcc evaluate POLICY...`: policies side by side in the network."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from decision.artefact.documents import dump_json, validate
from decision.artefact.errors import InputError
from decision.artefact.manifest import same_artefact
from decision.artefact.output import check_place, write_atomically
from netsim.devices import on_device
from netsim.engines import Engines
from netsim.network import LATEST_PS, US, Network
from netsim.network_file import load as load_network
from netsim.result_store import Kept
from netsim.scenarios import instantiate
from netsim.simulation import DURATION_PS
from rlcc.commands.console import console, stage
from rlcc.commands.model_options import given
from rlcc.commands.options import given_flags
from rlcc.evaluation import contenders, grid, standing_page, summary
from rlcc.evaluation import suite as suites
from rlcc.evaluation.grid import Cell, Grid, Times
from rlcc.evaluation.options import EvaluateOptions
from rlcc.evaluation.table_warnings import doubts
from rlcc.gate.emission_check import emitted
from rlcc.recipe import EmulateOptions

UNFOLDED = 1000
"""Columns where the output is not a terminal: a table takes what it needs, and programs read whole lines."""


def handle(
    policies: tuple[str, ...],
    stack: str,
    paths: tuple[str, ...],
    predict: str | None,
    scenarios: tuple[str, ...],
    seeds: tuple[int, ...],
    profile: str | None,
    network_file: Path | None,
    out: Path | None,
    pictures: bool,
    json_file: Path | None,
    foreign: bool,
    **given_options: Any,
) -> None:
    from rlcc.evaluation import report

    options = validate(EvaluateOptions, given(given_options), "options of rlcc evaluate")
    profile = profile or EmulateOptions().profile
    metrics = tuple(dict.fromkeys(options.metrics))
    summary.check_metrics(metrics)
    if json_file is not None and json_file.is_dir():
        raise InputError(f"--json: {json_file} is a folder; name a file")
    if stack == "linux":
        _on_linux(policies, paths, predict, scenarios, seeds, options, out, pictures, json_file, foreign)
        return
    if paths:
        raise InputError("--path is the bottleneck of --stack linux; in netsim it is --network")
    if predict is not None:
        raise InputError("--predict sets netsim beside a kernel; give --stack linux with it")
    judging = _suite(options.suite, seeds)
    if judging is None:
        network = Network() if network_file is None else load_network(network_file)
        network = network if options.transport is None else replace(network, transport=options.transport)
        network = network if options.device is None else on_device(network, options.device)
        times = _times(options, DURATION_PS)
        cells = tuple(Cell(name, name, times, network) for name in dict.fromkeys(scenarios))
    else:
        cells, seeds, pictures = suites.cells(judging), tuple(judging.seeds), False
        policies += tuple(name for name in (*judging.baselines, judging.yardstick) if name not in policies)
    for cell in cells:
        instantiate(cell.scenario, seeds[0], cell.times.duration_ps, cell.network)
    if out is not None:
        check_place(out / report.FOLDER, report.KIND)
    waited_for = _engines(options)
    read = {path: emitted(path, foreign=foreign) for path in contenders.firmware_folders(policies)}
    judged: list[standing_page.JudgedCell] = []
    with stage("evaluate") as (figures, progress):
        with contenders.opened(
            policies,
            decision_latency_ps=options.decision_latency,
            profile=profile,
            engines=waited_for,
            progress=progress,
            read=read,
        ) as competing:
            asked = Grid(tuple(competing), cells, tuple(dict.fromkeys(seeds)))
            if judging is not None:
                standing_page.others([c.label for c in competing], judging)
            grid.check(asked)
            keep = None if out is None else Kept(out / report.RUNS)
            results = grid.run(asked, keep=keep, progress=progress)
        rows = summary.rows(results)
        columns = summary.shown_metrics(rows, metrics)
        if judging is not None:
            judged = standing_page.judge(rows, judging)
        figures["runs"] = f"{len(results.outcomes):,}"
        if keep is not None and keep.reused:
            figures["cached"] = f"{keep.reused:,} in {keep.folder}"
        if out is not None:
            progress("writing")
            standing = None if judging is None else standing_page.page(judged, judging)
            place = out / report.FOLDER
            report.write(results, place, metrics=columns, pictures=pictures, profile=profile, standing=standing)
            figures["evaluation"] = str(place)
    console(UNFOLDED).print(summary.terminal(rows, columns))
    for sentence in doubts(results, rows, columns):
        click.echo(f"warning: {sentence}")
    if judging is not None:
        console(UNFOLDED).print(standing_page.terminal(judged, judging))
    if json_file is not None:
        write_atomically(json_file, dump_json(report.outcomes(results)))


NOT_ON_LINUX = (
    "suite",
    "decision_latency",
    "profile",
    "engines",
    "engine_queue",
    "overload",
    "network_file",
    "device",
    "transport",
)
"""Parameters that say something of netsim."""


def _on_linux(
    policies: tuple[str, ...],
    paths: tuple[str, ...],
    predict: str | None,
    scenarios: tuple[str, ...],
    seeds: tuple[int, ...],
    options: EvaluateOptions,
    out: Path | None,
    pictures: bool,
    json_file: Path | None,
    foreign: bool,
) -> None:
    """The same table and artefact of a real kernel's TCP."""
    from emulator.linux.parts import machine_parts
    from rlcc.evaluation import linux, prediction, report

    for flag in given_flags(*NOT_ON_LINUX).values():
        raise InputError(f"{flag} is of netsim; with --stack linux leave it out")
    metrics = tuple(dict.fromkeys(options.metrics))
    chosen = scenarios if given_flags("scenarios") else linux.SCENARIOS
    cells = linux.cells(chosen, paths or (linux.PATH,), _times(options, linux.DURATION_PS))
    competing = linux.contenders(policies)
    for cell in cells:
        linux.flows_of(cell, seeds[0])
    if predict is not None:
        prediction.check(competing, cells)
    if out is not None:
        check_place(out / report.FOLDER, report.KIND)
    for contender in competing:
        if contender.kind == "firmware":
            same_artefact(emitted(Path(str(contender.policy)), foreign=foreign), contender.hash)
    with stage("evaluate") as (figures, progress):
        parts = machine_parts(progress)
        grid_asked = Grid(tuple(competing), cells, tuple(dict.fromkeys(seeds)))
        keep = None if out is None else Kept(out / report.RUNS)
        results = linux.run_grid(grid_asked, parts, keep=keep, progress=progress)
        rows = summary.rows(results)
        columns = list(metrics) or [name for name in linux.METRICS if any(name in row.mean for row in rows)]
        columns += [] if metrics else [name for name in summary.FINITE if any(name in row.mean for row in rows)]
        figures |= {"guests": f"{len(results.outcomes):,}", "kernel": f"Linux {parts.kernel_release}"}
        if keep is not None and keep.reused:
            figures["cached"] = f"{keep.reused:,} in {keep.folder}"
        compared = prediction.compare(results, keep) if predict is not None else []
        if out is not None:
            place = out / report.FOLDER
            machine = {"kernel": parts.kernel_release, "hash": parts.hash, "packages": list(parts.packages)}
            report.write(results, place, metrics=columns, pictures=pictures, profile="", machine=machine)
            figures["evaluation"] = str(place)
    console(UNFOLDED).print(summary.terminal(rows, columns))
    if compared:
        console(UNFOLDED).print(summary.plain(prediction.HEADINGS, prediction.lines(compared)))
    for sentence in doubts(results, rows, columns):
        click.echo(f"warning: {sentence}")
    if json_file is not None:
        write_atomically(json_file, dump_json(report.outcomes(results)))
    if predict == "hold" and any(c.failing for c in compared):
        click.get_current_context().exit(1)


def _suite(name: str | None, seeds: tuple[int, ...]) -> suites.Suite | None:
    """The suite asked for, with the seeds asked for where there are any. It brings everything that makes its cells."""
    if name is None:
        return None
    for flag in given_flags("scenarios", "duration", "network_file", "device", "transport").values():
        raise InputError(f"--suite brings its own cells; leave out {flag}, or change a copy of its file")
    suite = suites.load(name)
    if not given_flags("seeds"):
        return suite
    if len(set(seeds)) < 2:
        raise InputError("--suite: one seed says nothing of what is chance; give two --seed at least")
    return suite.model_copy(update={"seeds": list(dict.fromkeys(seeds))})


def _engines(options: EvaluateOptions) -> Engines | None:
    if options.engines is not None:
        return Engines(options.engines, options.overload or "wait", options.engine_queue)
    if options.engine_queue is not None or options.overload is not None:
        raise InputError("--engine-queue and --overload say what happens at engines; say with --engines how many")
    return None


def _times(options: EvaluateOptions, default_ps: int) -> Times:
    duration_ps = default_ps if options.duration is None else options.duration
    if not US <= duration_ps <= LATEST_PS:
        raise InputError("--duration: a run may last from 1 us to 100 s")
    return Times.of(duration_ps)

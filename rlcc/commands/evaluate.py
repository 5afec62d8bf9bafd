"""`rlcc evaluate POLICY...`: policies side by side in the network."""

from pathlib import Path

import click

from decision.documents import dump_json, write_atomically
from decision.errors import InputError
from decision.manifest import check_place
from decision.processors import usable_cores
from decision.quantity import parse_duration_ps
from netsim.engines import OVERLOAD, Engines, Overload
from netsim.kept import Kept
from netsim.network import LATEST_PS, US, Network
from netsim.network_file import load as load_network
from netsim.places import of_jobs
from netsim.scenarios import instantiate
from netsim.simulation import DURATION_PS, WINDOW_PS
from rlcc.console import console, stage
from rlcc.emitted import check_emitted, foreign_option
from rlcc.evaluation import contenders, grid, report, summary
from rlcc.evaluation.grid import Grid, Times
from rlcc.options import FOLDER, quantity, seed_option
from rlcc.recipe import EmulateOptions

TIME = quantity(parse_duration_ps)
SCENARIOS = ("many-to-one:8", "many-to-one:64", "many-to-one:1024", "all-to-all:4", "long-short:8")
"""Few flows and many, several receivers, and a change of load."""
UNFOLDED = 1000
"""Columns where the output is not a terminal: a table takes what it needs, and programs read whole lines."""


@click.command()
@click.argument("policies", nargs=-1, required=True)
@click.option("--scenario", "scenarios", multiple=True, default=SCENARIOS, show_default=True, help="Repeatable.")
@seed_option(11)
@click.option("--duration", callback=TIME, help="Of each run; measured from 25 % to 85 % of it. [default: 200 ms]")
@click.option("--decision-latency", callback=TIME, help="What a decision takes where no @LATENCY says so.")
@click.option(
    "--profile", default=EmulateOptions().profile, show_default=True, help="Engine that firmware is timed on."
)
@click.option("--engines", type=int, help="Engines of a NIC, for which decisions wait. [default: one a flow]")
@click.option("--engine-queue", type=int, help="Events that may wait at an engine.")
@click.option("--overload", type=click.Choice(OVERLOAD), help="What an event does at a busy engine. [default: wait]")
@click.option("--network", "network_file", type=FOLDER, help="TOML file: the network where it is not the default one.")
@click.option("--metric", "metrics", multiple=True, help="Column of the table, repeatable. [default: a few]")
@click.option("--jobs", type=click.IntRange(1), help="Processes at a time. [default: as many as cores]")
@click.option("--out", type=FOLDER, help="Folder that keeps each run and receives the evaluation.")
@click.option("--no-pictures", is_flag=True, help="Draw nothing in --out.")
@click.option("--json", "json_file", type=FOLDER, help="Also write all metrics as JSON.")
@foreign_option
def command(
    policies: tuple[str, ...],
    scenarios: tuple[str, ...],
    seeds: tuple[int, ...],
    duration: int | None,
    decision_latency: int | None,
    profile: str,
    engines: int | None,
    engine_queue: int | None,
    overload: Overload | None,
    network_file: Path | None,
    metrics: tuple[str, ...],
    jobs: int | None,
    out: Path | None,
    no_pictures: bool,
    json_file: Path | None,
    foreign: bool,
) -> None:
    """Run POLICIES in the same networks with the same seeds; print a table.

    POLICY is [LABEL=]WHAT[@LATENCY]: a teacher, a student, a firmware folder, or a baseline by its name or TOML file.
    FIRMWARE@PROFILE and FIRMWARE@rtl:PROFILE let the emulated core decide.
    """
    times = _times(DURATION_PS if duration is None else duration)
    names, numbers = tuple(dict.fromkeys(scenarios)), tuple(dict.fromkeys(seeds))
    metrics = tuple(dict.fromkeys(metrics))
    summary.check_metrics(metrics)
    if json_file is not None and json_file.is_dir():
        raise InputError(f"--json: {json_file} is a folder; name a file")
    network = Network() if network_file is None else load_network(network_file)
    for name in names:
        instantiate(name, numbers[0], times.duration_ps, network)
    if out is not None:
        check_place(out / report.FOLDER, report.KIND)
    waited_for = _engines(engines, engine_queue, overload)
    where = of_jobs(jobs or usable_cores())
    check_emitted(contenders.firmware_folders(policies), foreign=foreign)
    with stage("evaluate") as (figures, progress):
        with contenders.opened(
            policies, decision_latency_ps=decision_latency, profile=profile, engines=waited_for, progress=progress
        ) as competing:
            whole = Grid(tuple(competing), names, numbers, times, network)
            grid.check(whole)
            keep = None if out is None else Kept(out / report.RUNS)
            results = grid.run(whole, where, keep=keep, progress=progress)
        found = summary.rows(results)
        columns = summary.shown_metrics(found, metrics)
        figures.append(f"{len(results.outcomes)} runs")
        if keep is not None and keep.reused:
            figures.append(f"{keep.reused} of them kept from before in {keep.folder}")
        if out is not None:
            progress("writing")
            report.write(results, out / report.FOLDER, metrics=columns, pictures=not no_pictures, profile=profile)
            figures.append(f"{out / report.FOLDER}")
    console(UNFOLDED).print(summary.terminal(found, columns))
    if json_file is not None:
        write_atomically(json_file, dump_json(report.outcomes(results)))


def _engines(number: int | None, queue: int | None, overload: Overload | None) -> Engines | None:
    if number is not None:
        return Engines(number, overload or "wait", queue)
    if queue is not None or overload is not None:
        raise InputError("--engine-queue and --overload say what happens at engines; say with --engines how many")
    return None


def _times(duration_ps: int) -> Times:
    if not US <= duration_ps <= LATEST_PS:
        raise InputError("--duration: a run may last from 1 us to 100 s")
    begin, end = (edge * duration_ps // DURATION_PS for edge in WINDOW_PS)
    return Times(duration_ps, (begin, end))

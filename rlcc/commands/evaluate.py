"""`rlcc evaluate POLICY...`: policies side by side in the network."""

from contextlib import ExitStack
from pathlib import Path

import click

from netsim.scenarios import parse as parse_scenario
from netsim.simulation import DECISION_LATENCY_PS, DURATION_PS, WINDOW_PS
from rlcc import closed_loop
from rlcc.closed_loop import Entry
from rlcc.console import print_outcomes, stage
from rlcc.options import FOLDER, quantity, scenario_option, seed_option
from rlcc.policies import by_path
from spec.documents import dump_json, write_atomically
from spec.errors import InputError
from spec.quantity import parse_duration_ps

TIME = quantity(parse_duration_ps)


@click.command()
@click.argument("policies", nargs=-1, required=True, type=FOLDER)
@scenario_option
@seed_option(11)
@click.option("--duration", callback=TIME, help="Of each run; measured from 25 % to 85 % of it. [default: 200 ms]")
@click.option("--decision-latency", callback=TIME, help="What a decision takes. [default: 0.9 us]")
@click.option("--json", "json_file", type=FOLDER, help="Also write all metrics as JSON.")
def command(
    policies: tuple[Path, ...],
    scenarios: tuple[str, ...],
    seeds: tuple[int, ...],
    duration: int | None,
    decision_latency: int | None,
    json_file: Path | None,
) -> None:
    """Run POLICIES (teachers, students or firmware folders) in the same networks with the same seeds; print a table."""
    length = DURATION_PS if duration is None else duration
    if length <= 0:
        raise InputError("--duration: a run of no time measures nothing")
    for name in scenarios:
        parse_scenario(name)
    window = (WINDOW_PS[0] * length // DURATION_PS, WINDOW_PS[1] * length // DURATION_PS)
    latency = DECISION_LATENCY_PS if decision_latency is None else decision_latency
    with ExitStack() as stack, stage("evaluate") as (figures, progress):
        named = [stack.enter_context(by_path(path)) for path in policies]
        entries = [Entry(f"{n.kind} {n.hash[:8]}", n.policy, latency) for n in named]
        outcomes = closed_loop.run(
            entries, list(scenarios), list(seeds), duration_ps=length, window_ps=window, progress=progress
        )
        figures.append(f"{len(outcomes) * len(seeds)} runs")
    print_outcomes(outcomes)
    if json_file is not None:
        write_atomically(json_file, dump_json([o.to_json() for o in outcomes]))

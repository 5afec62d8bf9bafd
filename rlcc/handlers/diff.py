"""`rlcc diff OLD NEW`: where two policies decide differently, by how much, in which share of recorded traffic."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from decision.artefact.documents import validate
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.output import write_atomically
from distill.options import RolloutOptions
from distill.rollout import KIND, Rollout, collect, recorded
from netsim.deployment import Deployment
from netsim.policies import interpreted
from rlcc.commands.console import Progress, stage
from rlcc.commands.model_options import given
from rlcc.commands.options import not_within
from rlcc.diff.changes import changes
from rlcc.diff.decisions import in_traffic, on_inputs, same_interface
from rlcc.diff.difference import PolicyDifference
from rlcc.diff.page import page
from rlcc.diff.side import Side, read_side
from rlcc.diff.words import HEADINGS, columns, input_text, interval_cells, summary


def handle(
    old: Path,
    new: Path,
    rollouts: Path | None,
    recipe: Path | None,
    out: Path | None,
    migration: Path | None,
    **asked: Any,
) -> int:
    chosen = given(asked)
    if rollouts is not None and chosen:
        raise InputError("--rollouts is traffic that is recorded already; leave out --scenario, --seed and --duration")
    for place in filter(None, (out, migration)):
        for folder in (old, new):
            not_within(folder, place)
    with stage("diff") as (figures, progress):
        sides = read_side(old), read_side(new)
        figures |= {"old": sides[0].label, "new": sides[1].label}
        traffic, said = None, "not compared: the interfaces differ"
        if same_interface(*sides):
            runs, said = _runs(sides[0], rollouts, recipe, chosen, progress)
            traffic = in_traffic(*sides, runs)
        progress("test inputs")
        found = PolicyDifference(*sides, tuple(changes(*sides)), said, traffic, on_inputs(*sides))
        figures |= summary(found)
        if out is not None:
            write_atomically(out, page(found))
            figures["page"] = str(out)
        if migration is not None:
            write_atomically(migration, _migration(*sides))
            figures["migration"] = str(migration)
    _print(found)
    return 1 if found.differs else 0


def _runs(
    old: Side, rollouts: Path | None, recipe: Path | None, chosen: dict[str, Any], progress: Progress
) -> tuple[Iterable[Rollout], str]:
    """Returns the traffic and what it is."""
    from rlcc.recipe import deployment_of, load_recipe

    interface = old.pupil.observation.agents
    read = None if recipe is None else load_recipe(recipe)
    deployment = Deployment() if read is None or recipe is None else deployment_of(read, recipe)
    if rollouts is not None:
        artefact = opened(rollouts, KIND)
        return list(
            recorded(artefact, interface, None if read is None else deployment)
        ), f"rollouts {artefact.hash[:12]}"
    usual = {"scenarios": ["many-to-one:64"]} if read is None else read.rollout.model_dump(mode="json")
    options = validate(RolloutOptions, usual | chosen, "options of rlcc diff")
    progress(", ".join(options.scenarios))
    said = f"OLD in {', '.join(options.scenarios)}, seed {', '.join(map(str, options.seeds))}"
    return collect(interpreted(old.pupil), options, deployment, progress), said


def _migration(old: Side, new: Side) -> str:
    from codegen.migration import migration
    from emulator.firmware_folder import read_firmware

    for side in (old, new):
        if side.kind != "firmware":
            raise InputError(f"{side.folder} is of kind {side.kind}; --migration needs two firmware folders")
    before, after = (read_firmware(side.folder) for side in (old, new))
    return migration(before.program, after.program, (old.label, new.label), after.prefix)


def _print(found: PolicyDifference) -> None:
    rows = [("changed", "old", "", "new")] + [(c.part, c.old, "->", c.new) for c in found.changes]
    intervals = found.traffic.intervals if found.traffic is not None else ()
    for line in (*columns(rows), *columns([HEADINGS, *map(interval_cells, intervals)])):
        click.echo(line)
    for title, compared in found.compared:
        if compared.worst is not None:
            click.echo(f"worst case of the {title}: {input_text(compared.worst)}")

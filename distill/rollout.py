"""`rlcc rollout`: watch a policy decide in the network, one run a scenario and seed.

Parquet, one row a decision: scenario, seed, the raw record (decision.policy.records), the firmware's integer features
(`feature.<name>`), and what the teacher decides (`teacher_q16`, or `teacher.<knob>`) beside what was applied.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import Manifest, Opened, of_kind, sha256
from decision.artefact.output import writing
from decision.artefact.quantity import parse_duration_ps
from decision.ir.arrays import Floats, Integers
from decision.ir.formats import ACTION_BITS
from decision.ir.interface import Interface
from decision.policy.actions import Scale
from decision.policy.features import AnyFeature
from decision.policy.policy import Header, header_of
from decision.policy.records import Columns, Trajectories, record_columns
from decision.policy.tree_decision import feature_names
from distill.log.features import observed_features, recorded_columns, recorded_states
from distill.options import RolloutOptions
from netsim.content import content
from netsim.deployment import Deployment
from netsim.policies import PolicySpec, interface_of, native
from netsim.scenarios import read as read_scenario
from netsim.trials import Progress
from netsim.trials import run as run_trials
from teachers.inference import decide
from teachers.teacher import Teacher

if TYPE_CHECKING:  # the gate collects rollouts and writes none: it runs without Parquet
    import pyarrow as pa

FILE = "rollouts.parquet"
KIND = "rollouts"
IMPORT = "import"
"""Details of a manifest whose rows come from a log (distill.log)."""
MAX_BYTES = 2**30
"""Unpacked."""


@dataclass(frozen=True)
class Rollout:
    """One simulated network and the decisions taken in it, sorted by flow and time."""

    scenario: str
    seed: int
    trajectories: Trajectories


def collect(
    policy: PolicySpec, options: RolloutOptions, deployment: Deployment | None = None, progress: Progress | None = None
) -> list[Rollout]:
    """Run ``policy`` in every network of the options; in order, whatever finishes first."""
    deployed = deployment or Deployment()
    places = [(name, seed) for name in options.scenarios for seed in options.seeds]
    trials = [
        deployed.trial(
            policy,
            name,
            seed=seed,
            duration_ps=options.duration,
            record_ps=options.duration,
            decision_latency_ps=options.decision_latency,
        )
        for name, seed in places
    ]
    outcomes = run_trials(trials, progress=progress)
    return [
        made(*place, options.duration, outcome.records[deployed.cohort], deployed, interface_of(policy))
        for place, outcome in zip(places, outcomes, strict=True)
    ]


def made(
    scenario: str, seed: int, duration_ps: int, records: Columns, deployment: Deployment, interface: Interface
) -> Rollout:
    """Returns a rollout of the recorded decisions at a deployment's agents, by deciders of that interface.

    Flows of a fabric are read as their policy assumes: what it decides in a state depends on no base RTT, and the
    shipped students are fitted to these states."""
    in_fabric = deployment.flows is None and read_scenario(scenario).fabric is not None
    places = {} if in_fabric else deployment.places(scenario, seed, duration_ps, interface)
    trajectories = Trajectories.of(records, interface, places)
    return Rollout(scenario, seed, replace(trajectories, network=f"{scenario}, seed {seed}"))


def teacher_policy(teacher: Teacher) -> PolicySpec:
    return native(teacher.policy, teacher.weights)


def write(
    runs: list[Rollout], teacher: Teacher, folder: Path, options: RolloutOptions, deployment: Deployment | None = None
) -> int:
    """Write the rollouts artefact; returns the number of decisions."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = sum(len(run.trajectories) for run in runs)
    if rows == 0:
        raise InputError("nobody decided anything in these networks; choose a longer duration")
    tables = [_table(run, teacher) for run in runs]
    details: dict[str, Any] = {"options": options.model_dump(mode="json"), "rows": rows}
    if (deployed := _deployed(deployment)) is not None:
        details["deployment"] = deployed
    parents = {"teacher": teacher.hash}
    tools = ("numpy", "pyarrow")
    with writing(folder, KIND, parents=parents, tools=tools, seed=options.seeds[0], details=details) as work:
        pq.write_table(pa.concat_tables(tables), work / FILE, compression="zstd")
    return rows


def read(
    source: Path | Opened, teacher: Teacher, deployment: Deployment | None = None, *, most_rows: int | None = None
) -> Iterator[Rollout]:
    """The runs of a rollouts artefact. InputError where it is another teacher's or not readable, or of another network
    or other agents, or has more rows than ``most_rows``."""
    manifest = of_kind(source, KIND)
    if manifest.parents.get("teacher") != teacher.hash:
        raise InputError(f"{manifest.folder} holds rollouts of another teacher; make them again with rlcc rollout")
    yield from recorded(manifest, teacher.policy.observation.agents, deployment, most_rows=most_rows)


def recorded(
    source: Path | Opened, interface: Interface, deployment: Deployment | None = None, *, most_rows: int | None = None
) -> Iterator[Rollout]:
    """The runs of a rollouts artefact, whoever decided in them. InputError where it is not readable, of another network
    or other agents, not of ``interface``, or has more rows than ``most_rows``."""
    manifest = of_kind(source, KIND)
    folder, imported = manifest.folder, IMPORT in manifest.details
    if not imported and manifest.details.get("deployment") != _deployed(deployment):
        raise InputError(
            f"{folder} holds rollouts of another network, or of other agents in it; make them again with rlcc run and "
            "the recipe that says which"
        )
    deployed = deployment or Deployment()
    observed = _observed(manifest) if imported else ()
    for scenario, seed, part in runs_of(manifest, [*record_columns(interface), *recorded_columns(observed)], most_rows):
        if imported:
            yield Rollout(scenario, seed, recorded_states(part, interface, observed))
        else:
            yield made(scenario, seed, _duration_ps(manifest, folder), part, deployed, interface)


def _observed(manifest: Opened) -> tuple[AnyFeature, ...]:
    """The features that an import holds in place of signals."""
    try:
        details = dict(manifest.details[IMPORT])
        header = header_of(dict(details["policy"]), str(manifest.folder))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{manifest.folder} does not say whose decisions it holds ({error!r}); import the log again"
        ) from None
    return observed_features(details, header)


def part_name(number: int) -> str:
    """Returns the name of the rollouts' file, or of a further one of a long log, from 1."""
    return FILE if number == 1 else FILE.replace(".", f"-{number}.")


def part_names(manifest: Opened) -> list[str]:
    """Returns the names of the files that hold the rows, in their order."""
    names = [FILE]
    while (further := part_name(len(names) + 1)) in manifest.files:
        names.append(further)
    return names


def runs_of(manifest: Opened, names: list[str], most_rows: int | None = None) -> Iterator[tuple[str, int, Columns]]:
    """Scenario, seed and these columns of each run of the artefact. InputError where one is missing or of another type,
    or there are more rows than ``most_rows``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns_read = ["scenario", "seed", *names]
    tables: list[pa.Table] = []
    size = 0
    for part_name in part_names(manifest):
        file = manifest.folder / part_name
        try:
            content = io.BytesIO(manifest.content(part_name))
            rows = sum(map(len, tables))
            size += _check_columns(content, file, columns_read, None if most_rows is None else most_rows - rows)
            if size > MAX_BYTES:
                raise InputError(f"{manifest.folder} unpacks to more than {MAX_BYTES} bytes; give shorter rollouts")
            # Names stay a dictionary: spelt out for each row, a file of some KB can fill any memory.
            tables.append(pq.read_table(content, columns=columns_read, read_dictionary=["scenario"]))
        except (pa.ArrowException, OSError, KeyError) as error:
            raise InputError(f"{file} is not readable ({error}); make it again with rlcc rollout") from None
    table = pa.concat_tables(tables)
    scenarios = np.asarray(table["scenario"].to_numpy(zero_copy_only=False), dtype=object)
    seeds = table["seed"].to_numpy()
    columns = {name: table[name].to_numpy() for name in names}
    starts = np.flatnonzero(np.r_[True, (scenarios[1:] != scenarios[:-1]) | (seeds[1:] != seeds[:-1])])
    for begin, end in zip(starts, [*starts[1:], len(scenarios)], strict=True):
        part = {name: column[begin:end] for name, column in columns.items()}
        yield str(scenarios[begin]), int(seeds[begin]), part


def _duration_ps(manifest: Manifest, folder: Path) -> int:
    """How long each network ran."""
    try:
        return parse_duration_ps(manifest.details["options"]["duration"])
    except (KeyError, TypeError):
        raise InputError(f"{folder} does not say how long its networks ran; make it again with rlcc rollout") from None


def _deployed(deployment: Deployment | None) -> Any:
    """Returns the deployment's hash for the manifest; None: flows in the usual network."""
    usual = content(Deployment())
    said = usual if deployment is None else content(deployment)
    return None if said == usual else sha256(dump_json(said).encode())


def _check_columns(content: io.BytesIO, file: Path, names: list[str], most_rows: int | None) -> int:
    """Returns the bytes that a file unpacks to. InputError where a column is missing or of another type: numbers of a
    fixed width, and one column of names; or where there are too many rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    parquet = pq.ParquetFile(content)
    schema, metadata = parquet.schema_arrow, parquet.metadata
    for name in names:
        kind = schema.field(name).type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        fits = (
            pa.types.is_string(kind) if name == "scenario" else pa.types.is_integer(kind) or pa.types.is_floating(kind)
        )
        if not fits:
            raise InputError(f"{file}: column {name!r} is of type {kind}; make it again with rlcc rollout")
    if most_rows is not None and metadata.num_rows > most_rows:
        raise InputError(f"{file} has {metadata.num_rows} decisions, more than {most_rows}; give shorter rollouts")
    size: int = sum(metadata.row_group(n).total_byte_size for n in range(metadata.num_row_groups))
    if size > MAX_BYTES:
        raise InputError(f"{file} unpacks to {size} bytes, more than {MAX_BYTES}; give shorter rollouts")
    return size


def _table(run: Rollout, teacher: Teacher) -> pa.Table:
    header = teacher.policy.header
    decided, _ = decide(teacher, run.trajectories)
    return run_table(run, header, label_columns(header, integers_of(decided, header)))


def run_table(run: Rollout, header: Header, labels: Mapping[str, NDArray[np.generic]]) -> pa.Table:
    """The rows of one run as they stand in the file, with these columns behind them."""
    import pyarrow as pa

    observation = header.observation
    rows, _ = run.trajectories.integer_rows(observation, header.params())
    count = len(run.trajectories)
    columns: dict[str, pa.Array | NDArray[np.generic]] = {
        "scenario": pa.array([run.scenario]).take(pa.array(np.zeros(count, dtype=np.int32))),
        "seed": np.full(count, run.seed, dtype=np.int64),
        **run.trajectories.columns,
        **{f"feature.{name}": rows[:, i].astype(np.int32) for i, name in enumerate(feature_names(observation))},
        **labels,
    }
    return pa.table(columns)


def label_names(header: Header) -> dict[str, str]:
    """Columns of what the teacher would have decided, and their types: an action, or knobs."""
    if isinstance(header.action, Scale):
        return {"teacher_q16": "int32"}
    return {f"teacher.{name}": "uint32" for name in header.action.values}


def integers_of(decided: Floats, header: Header) -> Integers:
    """Returns what is decided [N, values] as records keep it: multiplier - 1 in Q16, or knobs."""
    integers = (decided - 1) * 2**ACTION_BITS if isinstance(header.action, Scale) else decided
    return np.asarray(np.rint(integers), dtype=np.int64)


def label_columns(header: Header, integers: Integers) -> dict[str, NDArray[np.generic]]:
    """Returns those columns of what was decided [N, values], as ``integers_of`` has it."""
    return {name: integers[:, k].astype(kind) for k, (name, kind) in enumerate(label_names(header).items())}

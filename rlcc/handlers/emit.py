"""`rlcc emit SOURCE`: write integer-only C of a distilled student (a folder), of a model made elsewhere (a file), or of
a teacher's network, quantised."""

from pathlib import Path
from typing import Any

from codegen.form_names import NETWORK_FORMS
from codegen.targets import BARE
from decision.artefact.documents import validate
from decision.artefact.errors import InputError
from rlcc import stages
from rlcc.commands.console import Figures, Progress, counted, repeated, stage
from rlcc.commands.model_options import flag, given
from rlcc.recipe import EmitOptions, deployment_of, load_recipe

OF_NETWORKS = ("rollouts", "recipe", "activation_bits", "hidden_bits", "context_bytes")
"""Options that only a network's form takes, besides --target and --prefix."""


def handle(
    source: Path, grid: Path | None, policy: Path | None, seed: int, dumps: Path | None, out: Path, **asked: Any
) -> None:
    chosen = given(asked)
    with stage("emit") as (figures, progress), repeated(progress) as say:
        if not source.exists():
            raise InputError(f"there is no {source}; give the folder of a student or a teacher, or a model file")
        if chosen.get("form") in NETWORK_FORMS:
            others = {"grid": grid, "policy": policy, "dump-passes": dumps}
            refused = [name for name in chosen if name not in ("form", "target", "prefix", *OF_NETWORKS)]
            refused += [name for name, value in others.items() if value is not None]
            if refused:
                raise InputError(f"{flag(refused[0])} is of trees; leave it out with --form {chosen['form']}")
            if chosen["form"] == "mlp-int8" and "hidden_bits" in chosen:
                raise InputError("--hidden-bits is of an LSTM, which mlp-int8 is not; leave it out")
            _emit_network(source, chosen, seed, out, figures)
            return
        refused = [name for name in OF_NETWORKS if name in chosen]
        if refused:
            raise InputError(f"{flag(refused[0])} is of networks; give --form {' or '.join(NETWORK_FORMS)} too")
        options = validate(EmitOptions, chosen, "options of rlcc emit")
        if not source.is_file():
            if grid is not None or policy is not None:
                said = "--grid" if grid is not None else "--policy"
                raise InputError(f"{said} is for model files; a student brings its own along")
            stages.emit(source, options, seed, out, figures, dumps)
        elif source.suffix == ".toml":
            if grid is not None or policy is not None:
                said = "--grid" if grid is not None else "--policy"
                raise InputError(f"{source} is no model; {said} is for model files")
            _emit_algorithm(source, options, seed, out, figures, dumps)
        elif policy is not None:
            if grid is not None:
                raise InputError("--grid and --policy both say what the model's columns are; leave out one of the two")
            _emit_policy(source, policy, options, seed, out, figures, say, dumps)
        else:
            if "target" in chosen or "constants" in chosen:
                raise InputError(
                    "--target and --constants are of policies; give --policy too, or leave them out: the C of a model "
                    "alone fits any target"
                )
            _emit_model(source, grid, options, seed, out, figures, say, dumps)


def _emit_network(source: Path, chosen: dict[str, Any], seed: int, out: Path, figures: Figures) -> None:
    from codegen.emit import KIND, Emission
    from codegen.identity import PREFIX
    from codegen.networks.body import emit_network
    from codegen.networks.quantise import Bits
    from codegen.networks.quantised import quantised
    from decision.artefact.manifest import opened
    from decision.artefact.output import check_place
    from distill.rollout import KIND as ROLLOUTS
    from distill.rollout import read
    from teachers.load import load

    if "rollouts" not in chosen:
        raise InputError(
            f"--form {chosen['form']} is calibrated on recorded decisions; make them with rlcc rollout and name them "
            "with --rollouts"
        )
    check_place(out, KIND)
    teacher = load(source)
    target = chosen.get("target", EmitOptions().target)
    bits = chosen.get("activation_bits", 16), chosen.get("hidden_bits", 8)
    prefix = chosen.get("prefix", PREFIX)
    emission = Emission(target, seed, context_bytes=chosen.get("context_bytes"), prefix=prefix)
    parent = opened(chosen["rollouts"], ROLLOUTS)
    deployment = None
    if "recipe" in chosen:
        deployment = deployment_of(load_recipe(chosen["recipe"]), chosen["recipe"])
    runs = (run.trajectories for run in read(parent, teacher, deployment))
    policy = quantised(teacher.policy, teacher.weights, teacher.hash, runs, chosen["form"], Bits(*map(int, bits)))
    details = emit_network(policy, parent.hash, out, emission)
    off, entries = policy.report["held_out"], details["table_entries"]
    figures |= {
        "target": emission.target,
        "context": f"{details['context_bytes']} of {details['context_limit']} B",
        "network": f"{chosen['form']}, {policy.report['multiply_accumulates']} multiply-accumulates, "
        f"{policy.report['table_lookups']} lookups, {details['table_bytes']} B of tables",
        **stages.not_served(details),
        "action error": f"{_apart(off)} {off['decisions']:,} held-out decisions",
        "vectors": f"{details['vectors']:,}, {entries['hit']} of {entries['wanted']} {_entries(off)}",
    }


def _apart(off: dict[str, Any]) -> str:
    if "differ" in off:
        return f"row differs from the teacher's in {off['differ']:.3%} of"
    return f"{off['rmse']:.5f} RMS, {off['p99']:.5f} p99, {off['max']:.5f} max on"


def _entries(off: dict[str, Any]) -> str:
    return "rows chosen" if "differ" in off else "entries of its tables looked up"


def _emit_policy(
    path: Path,
    policy: Path,
    options: EmitOptions,
    seed: int,
    out: Path,
    figures: Figures,
    say: Progress,
    dumps: Path | None,
) -> None:
    from codegen.emit import Emission
    from codegen.policy_model import emit_policy

    emission = Emission(options.target, seed, options.compiler(), tuple(options.constants), prefix=options.prefix)
    details = emit_policy(path, policy, out, emission, dumps=dumps, say=say)
    figures["model"] = f"{counted(details['trees'], 'tree')} of depth <= {details['depth']}, as {details['policy']}"
    stages.emitted_figures(details, figures)
    if details["notes"]:
        figures["notes"] = "; ".join(details["notes"])
    figures["comparison"] = details["comparison"]


def _emit_algorithm(
    path: Path, options: EmitOptions, seed: int, out: Path, figures: Figures, dumps: Path | None
) -> None:
    from codegen.algorithm_body import emit_algorithm
    from codegen.emit import Emission

    target = options.target if "target" in options.model_fields_set else BARE.name
    emission = Emission(target, seed, options.compiler(), tuple(options.constants), prefix=options.prefix)
    details = emit_algorithm(path, out, emission, dumps=dumps)
    count = details["sides"]
    figures |= {
        "algorithm": details["policy"],
        "target": details["target"],
        "context": f"{details['context_bytes']} of {details['context_limit']} B",
        "vectors": f"{details['vectors']:,}, {count['hit']} of {count['wanted']} sides of its choices shown",
    }


def _emit_model(
    path: Path,
    grid: Path | None,
    options: EmitOptions,
    seed: int,
    out: Path,
    figures: Figures,
    say: Progress,
    dumps: Path | None,
) -> None:
    from codegen.model_body import at_most, emit_file

    compiler, prefix = options.compiler(), options.prefix
    details = emit_file(path, grid, out, seed=seed, options=compiler, prefix=prefix, dumps=dumps, say=say)
    grids = ", ".join(f["field"] for f in details["features"])
    error, visits, form = max(details["error"]), details["visits"], details["form"]
    figures |= {
        "model": f"{counted(details['trees'], 'tree')} of depth <= {details['depth']}, "
        f"{counted(details['thresholds'], 'threshold')} on {grids}",
        "task": f"{details['task']}, {details['outputs']} x Q.{details['leaf_bits']}",
        "library": f"differs by at most {at_most(error)}" if error else "equal",
        "trees": f"{form['form']}, {form['predicted']['tables']} B of tables" if form else "none",
        "vectors": f"{details['vectors']:,}, {visits['made']} of {visits['wanted']} branches, leaves, entries visited",
        **({"notes": "; ".join(details["notes"])} if details["notes"] else {}),
        "comparison": details["comparison"],
    }

"""A model made elsewhere as the body of a policy: from its file and a policy.toml to the firmware folder of a student.

model file --reader--> forest --policy_forest, by policy.toml--> student.json --> what every student becomes
"""

from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from codegen.emit import KIND, Emission, emit_body, options_for
from codegen.frontends import formats, read_forest, sklearn_estimator
from codegen.frontends.comparison import Comparison, Predictions, write_report
from codegen.frontends.policy_comparison import compare_policy, edge_rows, judged
from codegen.frontends.policy_forest import policy_forest, student_of_model
from codegen.frontends.predictions import of_sklearn
from codegen.model_body import Say, silent
from codegen.tree_body import StudentBody
from decision.artefact.documents import read_bytes
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened, sha256
from decision.artefact.output import check_place
from decision.policy.model_policy import read_model_policy
from decision.policy.student import Student


@dataclass(frozen=True)
class PolicyModel:
    """A student that was read from a model, the comparison with the model's library, and its parents' hashes."""

    student: Student
    comparison: Comparison
    parents: dict[str, str]
    notes: tuple[str, ...]


def read_policy_model(model: Path, policy: Path, say: Say = silent) -> PolicyModel:
    """Reads a model file as its policy.toml says, and holds it against its library, if that is installed.

    InputError where one of the two is not read, they do not fit each other, or the library predicts something else."""
    said = read_bytes(policy)
    told = read_model_policy(said, str(policy))
    content = read_bytes(model)
    say(f"reading {model.name}")
    forest, kind = read_forest(model)
    if read_bytes(model) != content:
        raise InputError(f"{model} changed while it was read; emit it again")
    try:
        read = policy_forest(forest, told)
    except InputError as error:
        raise InputError(f"{model} with {policy}: {error}") from None
    parents = {"model": sha256(content), "policy": sha256(said)}
    student = student_of_model(read, parents["model"])
    say("comparing with the library")
    notes = (formats.NOTES[kind],) if kind in formats.NOTES else ()
    return PolicyModel(student, compare_policy(read, kind, content), parents, notes)


def estimator_policy(estimator: Any, policy: Path) -> PolicyModel:
    """The same of a fitted scikit-learn tree, forest or boosting in memory; its hash is over what it decides."""
    said = read_bytes(policy)
    forest = sklearn_estimator.forest_of(estimator)
    read = policy_forest(forest, read_model_policy(said, str(policy)))
    rows = edge_rows(read)
    found = of_sklearn(estimator, forest.names, forest.names, read.rows(rows))
    raw = np.asarray(found["raw"], dtype=np.float64).reshape(len(rows), -1)
    library = forest.library
    comparison = judged(read, rows, Predictions(raw, None, library, version(library)))
    parents = {"model": sha256(repr(forest).encode()), "policy": sha256(said)}
    return PolicyModel(student_of_model(read, parents["model"]), comparison, parents, ())


def emit_policy_model(made: PolicyModel, out: Path, emission: Emission, dumps: Path | None = None) -> dict[str, Any]:
    """Write the firmware folder ``out`` of a policy that was read from a model; returns the manifest's details. Next to
    ``out`` a report says how the model compares with its library. InputError where it does not fit the target."""
    emission = replace(emission, options=options_for(emission.target, emission.options))
    details = emit_body(StudentBody(made.student, None), out, emission, parents=made.parents, dumps=dumps)
    write_report(made.comparison, out, opened(out, KIND).hash, made.parents["model"])
    return details | {"comparison": made.comparison.sentence(), "notes": list(made.notes)}


def emit_policy(
    model: Path, policy: Path, out: Path, emission: Emission, *, dumps: Path | None = None, say: Say = silent
) -> dict[str, Any]:
    """``emit_policy_model`` of a model's file; InputError also as ``read_policy_model``."""
    check_place(out, KIND)
    return emit_policy_model(read_policy_model(model, policy, say), out, emission, dumps)

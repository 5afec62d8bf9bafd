"""Differences of a firmware folder from what its own decider and its options give, byte for byte.

A manifest tells a changed file, but anyone can seal a folder anew; only emitting it again tells whether it is ours.
"""

from pathlib import Path

from codegen.algorithm_body import AlgorithmBody
from codegen.body import Body
from codegen.emit import KIND, emission_of, fill
from codegen.model_body import ModelBody
from codegen.networks.body import NetworkBody
from codegen.tree_body import StudentBody
from decision.artefact import temporary
from decision.artefact.manifest import Opened, of_kind
from decision.policy.algorithm import Algorithm
from decision.policy.deciders import Decider, load_decider
from decision.policy.model import Model
from decision.policy.network_policy import NetworkPolicy


def differences(firmware: Path | Opened, decider: Decider | None = None) -> list[str]:
    """The files that differ, and ``manifest.json: PART``; empty where the folder is as this rlcc emits it. ``decider``:
    what decides in it, where it was read before.

    InputError where the folder does not say enough to emit it again.
    """
    manifest = of_kind(firmware, KIND)
    body = body_in(manifest, decider or load_decider(manifest))
    with temporary.folder() as again:
        details = fill(again, body, emission_of(manifest))
        made = {str(path.relative_to(again)): path.read_bytes() for path in again.rglob("*") if path.is_file()}
    wrong = [f for f in sorted(made.keys() | manifest.files.keys()) if made.get(f) != manifest.contents.get(f)]
    if details != manifest.details:
        wrong.append("manifest.json: details")
    if any(manifest.parents.get(parent) != known for parent, known in body.parents().items()):
        wrong.append("manifest.json: parents")
    return wrong


def body_in(firmware: Opened, decider: Decider) -> Body:
    """Returns the body of a firmware folder's decider, to be emitted again."""
    if isinstance(decider, NetworkPolicy):
        return NetworkBody(decider)
    if isinstance(decider, Model):
        return ModelBody(decider)
    if isinstance(decider, Algorithm):
        return AlgorithmBody(decider)
    return StudentBody(decider, None if decider.model else firmware.parent("student", firmware.folder))

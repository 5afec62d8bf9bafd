"""The shipped teachers that pages set next to each other, and how a page lists who took part."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from decision.artefact.errors import InputError
from decision.policy.start import LossCut, Start
from netsim.policies import NativePolicy
from rlcc.evaluation.contenders import Contender

TEACHERS = Path(__file__).parents[1] / "fixtures" / "teachers"
FLAGSHIP = "flagship"
FOLDERS = {"RL-CC": "rl-cc-mlp", "PCC-RL": "pcc-rl-lstm", FLAGSHIP: "robust-in-flight"}
"""A page's name of a policy -> the folder of its teacher."""
POLICIES = tuple(f"{label}={TEACHERS / folder}" for label, folder in FOLDERS.items())
"""The same as `rlcc evaluate` takes them."""
CUT = 0.0625


def listed(contenders: Iterable[Contender]) -> str:
    """Returns a list in Markdown: label, kind, name and hash of each."""
    return "".join(f"- {c.label}: {c.kind} {c.name} `{c.hash[:12]}`\n" for c in contenders)


def start_with_cut(start: Start, cut: float = CUT) -> Start:
    """Returns the start with a cut by losses."""
    return start.model_copy(update={"loss": LossCut(cut=cut)})


def beside_cut(contenders: Sequence[Contender]) -> list[Contender]:
    """Returns the contenders and, where the flagship is one, the flagship with a cut by losses."""
    return [*contenders, *(with_cut(each) for each in contenders if each.label == FLAGSHIP)]


def with_cut(contender: Contender, cut: float = CUT) -> Contender:
    """Returns the policy with a cut by losses in its start, and the same weights. InputError if it has no start."""
    policy = contender.policy
    if not isinstance(policy, NativePolicy) or policy.policy.start is None:
        raise InputError(f"{contender.label} has no start, and a cut by losses is one of its rows")
    start = start_with_cut(policy.policy.start, cut)
    cut_policy = replace(policy, policy=policy.policy.model_copy(update={"start": start}))
    return replace(contender, label=f"{contender.label}, loss cut {cut:g}", policy=cut_policy)

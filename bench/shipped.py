"""The shipped teachers that pages set next to each other, and how a page lists who took part."""

from collections.abc import Iterable
from pathlib import Path

from rlcc.evaluation.contenders import Contender

TEACHERS = Path(__file__).parents[1] / "fixtures" / "teachers"
FLAGSHIP = "flagship"
FOLDERS = {"RL-CC": "rl-cc-mlp", "PCC-RL": "pcc-rl-lstm", FLAGSHIP: "robust-in-flight"}
"""A page's name of a policy -> the folder of its teacher."""
POLICIES = tuple(f"{label}={TEACHERS / folder}" for label, folder in FOLDERS.items())
"""The same as `rlcc evaluate` takes them."""


def listed(contenders: Iterable[Contender]) -> str:
    """Returns a list in Markdown: label, kind, name and hash of each."""
    return "".join(f"- {c.label}: {c.kind} {c.name} `{c.hash[:12]}`\n" for c in contenders)

"""policy.toml beside a model of trees made elsewhere: what its columns observe and what its output means.

format = 1
name = "rtt-forest"

[model]
output = "change"           # new rate = rate x (1 + output)

[input]                     # how the model's columns stand: decision/policy/input_layout.py
columns = ["rtt_ns_level", "rate"]

[observation], [action], [limits], [start], ..    as in a teacher's policy.toml: decision/policy/policy.py
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from decision.artefact.documents import Format1, load_toml, parse_toml
from decision.artefact.strict import Strict
from decision.policy.actions import Level, Multiplier, Scale, Table
from decision.policy.input_layout import InputLayout
from decision.policy.policy import POLICY_NAME, Header

Output = Literal["action", "change", "multiplier", "knobs", "row"]

MEANINGS: Mapping[Output, str] = {
    "action": "what the action map takes, in [-1, 1]",
    "change": "the multiplier of the rate - 1",
    "multiplier": "the multiplier of the rate",
    "knobs": "the knobs, one output each",
    "row": "a score a row of the table; the greatest chooses, the first of equals",
}
"""What the outputs of a model can be."""


class ModelTable(Strict):
    """``[model]``: what the model's outputs are."""

    output: Output
    """Meaning of the model's outputs."""


class ModelPolicy(Header):
    """A policy whose body is a model of trees: the header of every decider, and how the model is to be read.

    ValueErrors name the key: an output that the action map does not take, columns that do not fit, a trigger."""

    format: Format1
    """Format version of the file."""
    name: str = Field(pattern=POLICY_NAME)
    """Name of the policy."""
    model: ModelTable
    input: InputLayout = Field(default_factory=InputLayout)
    provenance: dict[str, Any] = Field(default_factory=dict)
    """Free text: command, seed, figures."""

    @model_validator(mode="before")
    @classmethod
    def _no_network(cls, data: Any) -> Any:
        if isinstance(data, dict) and "architecture" in data:
            raise ValueError("[architecture] is of a network; a policy of trees has [model] output in its place")
        return data

    @model_validator(mode="after")
    def _reads(self) -> "ModelPolicy":
        if self.trigger is not None:
            raise ValueError("trigger: a model made elsewhere has no trees that fire it; leave the table out")
        if self.model.output not in self.outputs_taken:
            taken = ", ".join(f'"{name}"' for name in self.outputs_taken)
            raise ValueError(f"model.output is {self.model.output!r}; the action map {self.action.kind} takes {taken}")
        if self.input.clip is not None or self.input.statistics is not None:
            raise ValueError("input.clip and input.vec_normalize are of a network's columns; leave them out for trees")
        self.input.check(self.observation.labels, self.observation.window)
        return self

    @property
    def outputs_taken(self) -> tuple[Output, ...]:
        """Which outputs the action map takes. A ``tanh_map`` is no straight line, so that a sum of trees cannot go
        through it leaf by leaf."""
        if isinstance(self.action, Level):
            return ("action", "knobs")
        if isinstance(self.action, Table) or not isinstance(self.action, Scale):
            return ("row",)
        return ("change", "multiplier", *(("action",) if isinstance(self.action, Multiplier) else ()))

    @property
    def columns(self) -> int:
        """How many columns the model has."""
        return self.observation.window * len(self.input.columns_of(self.observation.labels))


def load_model_policy(path: Path) -> ModelPolicy:
    """Read and check a policy.toml of a model. InputError names the key and what is wrong with it."""
    return load_toml(ModelPolicy, path)


def read_model_policy(content: bytes, where: str) -> ModelPolicy:
    """The same of the file's bytes; ``where`` names it."""
    return parse_toml(ModelPolicy, content, where)

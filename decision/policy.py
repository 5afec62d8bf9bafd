"""policy.toml: everything a teacher's weights do not say about themselves.

format = 1
name = "rl-cc-mlp"

[architecture]              # layers; ReLU between them, tanh at the end (none for a table of actions)
kind = "mlp"                # or "lstm": hidden layers, then the LSTM, then the output
hidden = [12]
bias = false

[observation]               # features in order, newest decision first, `window` decisions
window = 2
base_rtt = "8192 ns"
line_rate = "100 Gb/s"
rtt_max = "4 ms"
[[observation.features]]
kind = "previous_action"
[[observation.features]]
kind = "rl_cc_congestion"
target = 0.064
beta = 1.5
scale = -12.5

[action]
kind = "tanh_map"
step = 0.2

[limits]                    # fractions of line rate: "line", "%" or "ppm"
rate_min = "1 ppm"
rate_max = "100 %"
rate_initial = "100 %"

[provenance]                # free text: command, seed, figures
"""

from pathlib import Path as FilePath
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from decision.actions import AnyAction
from decision.documents import load_toml
from decision.errors import InputError
from decision.features import AnyFeature, Path, PccRlCongestion, RlCcCongestion
from decision.interfaces import FLOW_RATE
from decision.quantity import DurationNs, LineFractionQ30, RateBps
from decision.signals import LINE_RATE_Q30, RTT_BITS, base_rtt_recip_q32

MAX_WINDOW = 16
POLICY_NAME = r"^[a-z0-9][a-z0-9._-]{0,63}$"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Architecture(_Strict):
    """Layer sizes. ``lstm`` is the number of LSTM units, given for kind "lstm" and for it alone."""

    kind: Literal["mlp", "lstm"]
    hidden: list[int] = Field(max_length=8)
    lstm: int | None = Field(default=None, ge=1, le=256)
    bias: bool

    @model_validator(mode="after")
    def _sizes(self) -> "Architecture":
        if (self.kind == "lstm") != (self.lstm is not None):
            raise ValueError('lstm = <units> belongs to kind = "lstm", and only there')
        if any(not 1 <= units <= 1024 for units in self.hidden):
            raise ValueError("a hidden layer has 1 to 1024 units")
        return self


class Observation(_Strict):
    """Features in order, the window of decisions, and what is assumed of the path."""

    window: int = Field(ge=1, le=MAX_WINDOW)
    base_rtt: DurationNs
    line_rate: RateBps
    rtt_max: DurationNs
    features: list[AnyFeature] = Field(min_length=1, max_length=16)

    @model_validator(mode="after")
    def _ranges(self) -> "Observation":
        if not 256 <= self.base_rtt < self.rtt_max:
            raise ValueError(f"base_rtt is {self.base_rtt} ns; it must lie between 256 ns and rtt_max")
        if self.rtt_max >= 2**RTT_BITS:
            raise ValueError(f"rtt_max is {self.rtt_max} ns; the firmware's RTT holds at most {2**RTT_BITS - 1} ns")
        if not 10**8 <= self.line_rate <= 10**14:
            raise ValueError(f"line_rate is {self.line_rate} b/s; it must lie between 100 Mb/s and 100 Tb/s")
        kinds = [feature.kind for feature in self.features]
        for kind in kinds:
            if kinds.count(kind) > 1:
                raise ValueError(f"the feature {kind} stands twice")
        kind_of: dict[str, str] = {}
        for feature in self.features:
            other = kind_of.setdefault(feature.name, feature.kind)
            if other != feature.kind:
                raise ValueError(f"{other} and {feature.kind} would both be {feature.name} in the C; keep one of them")
        for feature in self.features:
            if isinstance(feature, RlCcCongestion | PccRlCongestion) and feature.fraction_bits < 4:
                raise ValueError(f"the target of {feature.kind} is too large for a 24-bit integer feature")
        return self

    @property
    def path(self) -> Path:
        return Path(self.base_rtt, self.line_rate, self.rtt_max)

    @property
    def size(self) -> int:
        """Length of a feature row: window x features."""
        return self.window * len(self.features)

    def with_window(self, window: int) -> "Observation":
        """The same features over another number of decisions."""
        if not 1 <= window <= MAX_WINDOW:
            raise InputError(f"a window of {window} decisions is outside 1..{MAX_WINDOW}")
        return self.model_copy(update={"window": window})


class Limits(_Strict):
    """Bounds of the rate and the rate of a new flow, Q0.30 fractions of line rate."""

    rate_min: LineFractionQ30
    rate_max: LineFractionQ30
    rate_initial: LineFractionQ30

    @model_validator(mode="after")
    def _order(self) -> "Limits":
        if not self.rate_min <= self.rate_initial <= self.rate_max:
            raise ValueError("rate_min <= rate_initial <= rate_max does not hold")
        return self


class Policy(_Strict):
    """A teacher's policy.toml, checked."""

    format: Literal[1]
    name: str = Field(pattern=POLICY_NAME)
    architecture: Architecture
    observation: Observation
    action: AnyAction
    limits: Limits
    provenance: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits(self) -> "Policy":
        self.action.check(FLOW_RATE)
        if self.architecture.kind == "lstm" and self.observation.window != 1:
            raise ValueError("an LSTM sees one decision at a time: observation.window must be 1")
        return self

    def params(self) -> dict[str, int]:
        """The operator's parameters with the values the policy was trained for."""
        return default_params(self.observation, self.limits)


def default_params(observation: Observation, limits: Limits) -> dict[str, int]:
    """The operator's parameters, in the device's integers, for what a policy assumes of its network."""
    return {
        "base_rtt_recip_q32": base_rtt_recip_q32(observation.base_rtt),
        "rate_min_q30": limits.rate_min,
        "rate_max_q30": min(limits.rate_max, LINE_RATE_Q30),
        "rate_initial_q30": min(limits.rate_initial, LINE_RATE_Q30),
    }


def load_policy(path: FilePath) -> Policy:
    """Read and check a policy.toml. InputError names the key and what is wrong with it."""
    return load_toml(Policy, path)

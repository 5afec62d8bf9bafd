"""Observation features: what each means to a teacher (float) and to the firmware (integer), from one expression."""

from typing import Annotated

from pydantic import Field

from decision.policy.features.counting import HowMany
from decision.policy.features.feature import Feature, Path, Place
from decision.policy.features.flow import (
    FEATURE_KINDS,
    CnpRatio,
    NackRatio,
    PccRlCongestion,
    PreviousAction,
    QueueInflation,
    Rate,
    RlCcCongestion,
    RttInflation,
)
from decision.policy.features.generic import Bucket, Change, Decisions, Level, Present, PreviousKnob, Ratio
from decision.policy.features.history_features import (
    AboveMinimum,
    DecayingCount,
    InARow,
    Interval,
    Maximum,
    Minimum,
    MovingAverage,
    OverMinimum,
)

__all__ = [
    "FEATURE_KINDS",
    "AboveMinimum",
    "AnyFeature",
    "Bucket",
    "Change",
    "CnpRatio",
    "DecayingCount",
    "Decisions",
    "Feature",
    "HowMany",
    "InARow",
    "Interval",
    "Level",
    "Maximum",
    "Minimum",
    "MovingAverage",
    "NackRatio",
    "OverMinimum",
    "Path",
    "PccRlCongestion",
    "Place",
    "Present",
    "PreviousAction",
    "PreviousKnob",
    "QueueInflation",
    "Rate",
    "Ratio",
    "RlCcCongestion",
    "RttInflation",
]

AnyFeature = Annotated[
    PreviousAction
    | RlCcCongestion
    | PccRlCongestion
    | RttInflation
    | QueueInflation
    | Rate
    | CnpRatio
    | NackRatio
    | Level
    | Ratio
    | Change
    | Bucket
    | Present
    | Decisions
    | HowMany
    | PreviousKnob
    | MovingAverage
    | Minimum
    | Maximum
    | AboveMinimum
    | OverMinimum
    | InARow
    | DecayingCount
    | Interval,
    Field(discriminator="kind"),
]

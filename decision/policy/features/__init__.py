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

__all__ = [
    "FEATURE_KINDS",
    "AnyFeature",
    "Bucket",
    "Change",
    "CnpRatio",
    "Decisions",
    "Feature",
    "HowMany",
    "Level",
    "NackRatio",
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
    | PreviousKnob,
    Field(discriminator="kind"),
]

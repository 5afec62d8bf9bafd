"""Logs of features in place of signals: what the policy saw, as the integers that firmware would have computed.

A feature's integer is a floor (decision.policy.features): the nearest one whose value is not beyond the log's. A log's
values are decimal, so that a value on the grid may become the integer below; no threshold tells them apart for certain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats, Integers
from decision.ir.formats import FEATURE_LIMIT
from decision.ir.interface import Interface
from decision.policy.features import AnyFeature
from decision.policy.policy import Header, Observation
from decision.policy.records import Columns, Trajectories
from decision.policy.tree_decision import feature_name

FEATURE = "feature."
"""Begins the names of their columns."""
SIGNALS, FEATURES = "signals", "features"
"""What a log had, as the import's details say in ``observed``."""
GRID_TOLERANCE = 1e-9
"""Of a step: what a decimal value may lie beside the grid."""
MAX_RANGES = 16
"""Times a format's range: what firmware may meet and cut off; a value beyond is of another unit."""


def feature_columns(observation: Observation) -> dict[str, AnyFeature]:
    """Returns the features of one decision by the names of their columns."""
    named = zip(observation.labels, observation.features, strict=True)
    return {FEATURE + label: feature for label, feature in named}


def feature_integers(feature: AnyFeature, values: Floats) -> Integers:
    """Returns the integers [rows] of values as a policy sees them; beyond the ends of the format the ends."""
    ends = feature.float_of(np.array([0.0, FEATURE_LIMIT - 1.0]))
    sign = 1.0 if ends[1] >= ends[0] else -1.0
    low = np.full(len(values), _least(feature), dtype=np.int64)
    high = np.full(len(values), FEATURE_LIMIT - 1, dtype=np.int64)
    # The greatest integer whose value is not beyond: float_of is monotone.
    while (low < high).any():
        middle = (low + high + 1) // 2
        steps = feature.float_of(middle.astype(np.float64))
        reached = sign * (steps - values) <= GRID_TOLERANCE * np.maximum(np.abs(values), 1.0)
        low, high = np.where(reached, middle, low), np.where(reached, high, middle - 1)
    return np.asarray(low, dtype=np.int64)


def impossible(feature: AnyFeature, values: Floats) -> tuple[NDArray[np.int64], tuple[float, float]]:
    """Returns the places of values that the feature never has, and its ends: values before the first by more than a
    step, and values far beyond the last, which firmware cuts off."""
    least = _least(feature)
    first, second, last = feature.float_of(np.array([least, least + 1, FEATURE_LIMIT - 1], dtype=np.float64))
    sign = 1.0 if last >= first else -1.0
    over = sign * (values - first)
    hair = np.maximum(abs(second - first), 1e-6 * np.maximum(np.abs(values), 1.0))
    return np.flatnonzero((over < -hair) | (over > MAX_RANGES * abs(last - first) + hair)), (float(first), float(last))


def _least(feature: AnyFeature) -> int:
    return 0 if feature.storage.startswith("u") else -FEATURE_LIMIT


def observed_features(details: Mapping[str, Any], header: Header) -> tuple[AnyFeature, ...]:
    """Returns the features that an import's rows hold in place of signals; none where it has the signals."""
    return tuple(header.observation.features) if details.get("observed") == FEATURES else ()


def recorded_columns(observed: Sequence[AnyFeature]) -> list[str]:
    """Returns the columns of rollouts that hold these features."""
    return [FEATURE + feature_name(feature, 0) for feature in observed]


@dataclass(frozen=True)
class FeatureStates(Trajectories):
    """Decisions whose features are on record and whose signals are not. ``features`` [N, features of one decision], of
    the features ``observed``."""

    features: Integers = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    observed: tuple[AnyFeature, ...] = ()

    @staticmethod
    def of_features(states: Trajectories, features: Integers, observed: Sequence[AnyFeature]) -> "FeatureStates":
        """The same decisions with their features, in the order of ``states``."""
        return FeatureStates(
            states.columns,
            states.position,
            states.interface,
            states.places,
            states.network,
            features,
            tuple(observed),
        )

    def integer_rows(
        self, observation: Observation, params: Mapping[str, int]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        for feature in observation.features:
            if feature not in self.observed:
                raise InputError(
                    f"the rollouts are of a log of features and have no {feature_name(feature, 0)} as the policy "
                    "observes it; import a log of signals"
                )
        rows, valid = [], np.ones(len(self), dtype=bool)
        for lag in range(observation.window):
            for feature in observation.features:
                rows.append(self._lagged(self.features[:, self.observed.index(feature)], lag, 0))
                valid &= self._has_history(lag + (feature.decided is not None))
        return np.minimum(np.stack(rows, axis=1).astype(np.int64), FEATURE_LIMIT - 1), valid

    def float_rows(self, observation: Observation) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        rows, valid = self.integer_rows(observation, {})
        features = list(observation.features) * observation.window
        floats = [feature.float_of(rows[:, n].astype(np.float64)) for n, feature in enumerate(features)]
        return np.stack(floats, axis=1), valid


def recorded_states(part: Columns, interface: Interface, observed: Sequence[AnyFeature]) -> Trajectories:
    """The decisions of a run of rollouts, with the features that are on record in place of signals."""
    states = Trajectories.of(part, interface)
    if not observed:
        return states
    order = np.lexsort((part["t_ps"], part[interface.agent]))
    features = np.stack([part[name].astype(np.int64)[order] for name in recorded_columns(observed)], axis=1)
    return FeatureStates.of_features(states, features, observed)

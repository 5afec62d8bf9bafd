"""One side of a comparison: a student, or the firmware of a student or of a network."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.policy.deciders import Pupil, load_pupil, student_of
from decision.policy.student import Student
from decision.policy.tree_decision import feature_name
from decision.policy.trigger import SAVED
from rlcc.policies import kind_of


@dataclass(frozen=True)
class Side:
    """``hash``: of the artefact's manifest; ``details``: what a firmware's manifest says of it, empty of a student."""

    folder: Path
    kind: str
    hash: str
    pupil: Pupil
    details: dict[str, object]

    @property
    def student(self) -> Student | None:
        """Returns the policy if it decides by trees."""
        return self.pupil if isinstance(self.pupil, Student) else None

    @property
    def label(self) -> str:
        return f"{self.pupil.name} {self.hash[:12]} ({self.kind})"

    @cached_property
    def thresholds(self) -> dict[str, list[int]]:
        """Returns the thresholds of each feature that trees ask for, by its name; nothing without trees."""
        if self.student is None:
            return {}
        forest = self.student.forest
        return {forest.features[feature]: values for feature, values in forest.thresholds().items()}

    def value(self, feature: str, number: int) -> str:
        """Returns an integer of the feature ``feature`` in physical units; empty where it has none."""
        observation, feature = self.pupil.observation, feature.removeprefix(SAVED)
        for lag in range(observation.window):
            for kind in observation.features:
                if feature_name(kind, lag) == feature:
                    return kind.value(number)
        return ""


def read_side(folder: Path) -> Side:
    """Reads a folder. Raises InputError if it holds neither a student nor the firmware of a policy."""
    kind = kind_of(folder)
    if kind == "student":
        artefact = opened(folder, kind)
        return Side(folder, kind, artefact.hash, student_of(artefact), {})
    if kind == "firmware":
        artefact = opened(folder, kind)
        return Side(folder, kind, artefact.hash, load_pupil(artefact), dict(artefact.details))
    raise InputError(f"{folder} is of kind {kind}; give the folder of a student or of a firmware")

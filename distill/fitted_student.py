"""A student with the CatBoost model that it came from, and both in a folder: what every fit ends in."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from catboost import CatBoostRegressor

from decision.artefact import temporary
from decision.policy.student import NAME, Student, read_student
from distill import boost

MODEL, TRIGGER_MODEL = "student.cbm", "trigger.cbm"
PARAMETERS = "params"
"""CatBoost's key of a model's metadata."""


@dataclass(frozen=True)
class Fitted:
    """A student with the CatBoost model that it came from; ``points``: on which both were found equal; ``trigger``: the
    model of its trigger, where it has one."""

    student: Student
    model: CatBoostRegressor
    points: int
    trigger: CatBoostRegressor | None = None

    @property
    def models(self) -> dict[str, CatBoostRegressor]:
        """Returns the models by the names of their files."""
        named = {MODEL: self.model, TRIGGER_MODEL: self.trigger}
        return {name: model for name, model in named.items() if model is not None}

    @property
    def parameters(self) -> dict[str, str]:
        """Returns file name -> the training parameters in the model's metadata.

        CatBoost writes them into the model's file unchanged, but in another order once it has read them from there.
        """
        return {name: str(model.get_metadata()[PARAMETERS]) for name, model in self.models.items()}

    def write(self, folder: Path) -> None:
        """Writes student.json and the models into a folder."""
        self.student.save(folder)
        for name, model in self.models.items():
            boost.scrub(model)
            model.save_model(str(folder / name))

    @staticmethod
    def read(contents: Mapping[str, bytes], where: Path, points: int, parameters: Mapping[str, str]) -> "Fitted":
        """Returns what ``write`` wrote, from the bytes of its files by name, such that it writes the same bytes again.
        ``where`` names their folder."""
        student = read_student(contents[NAME], str(where / NAME))
        models = {name: _model(contents[name], told) for name, told in parameters.items()}
        return Fitted(student, models[MODEL], points, models.get(TRIGGER_MODEL))


def _model(content: bytes, parameters: str) -> CatBoostRegressor:
    model = CatBoostRegressor()
    with temporary.folder() as folder:
        (folder / MODEL).write_bytes(content)
        model.load_model(str(folder / MODEL))
    model.get_metadata()[PARAMETERS] = parameters
    return model

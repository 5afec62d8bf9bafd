"""Whatever decides in a firmware folder: a student, a quantised network, a model made elsewhere.

All have a name, a program and parameters, and lie as one file beside the C that was emitted from it.
"""

from pathlib import Path

from decision.errors import InputError
from decision.model import NAME as MODEL_NAME
from decision.model import Model, load_model
from decision.network_policy import NAME as NETWORK_NAME
from decision.network_policy import NetworkPolicy, load_network_policy
from decision.student import NAME as STUDENT_NAME
from decision.student import Student, load_student

Pupil = Student | NetworkPolicy
"""What was made from a teacher of ours."""
Decider = Pupil | Model


def decider_file(folder: Path) -> str:
    """The name of the file that a firmware folder was emitted from. InputError where there is none."""
    names = (STUDENT_NAME, NETWORK_NAME, MODEL_NAME)
    present = [name for name in names if (folder / name).is_file()]
    if len(present) != 1:
        holds = f"both {' and '.join(present)}" if present else f"none of {', '.join(names)}"
        raise InputError(f"{folder} holds {holds}, of which a firmware has one; emit it again")
    return present[0]


def load_decider(folder: Path) -> Decider:
    """What decides in a firmware folder, read and checked."""
    file = decider_file(folder)
    if file == NETWORK_NAME:
        return load_network_policy(folder / file)
    return load_model(folder / file) if file == MODEL_NAME else load_student(folder / file)


def load_pupil(folder: Path) -> Pupil:
    """The same of a folder whose agents are in a network. InputError for a model made elsewhere, which has none."""
    decider = load_decider(folder)
    if isinstance(decider, Model):
        raise InputError(f"{folder} is of a model made elsewhere, which no network asks; give a student or a network")
    return decider

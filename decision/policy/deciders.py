"""Whatever decides in a firmware folder: a student, a quantised network, a model made elsewhere, an algorithm.

All have a name, a program and parameters, and lie as one file beside the C that was emitted from it.
"""

from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened, of_kind
from decision.policy.algorithm import NAME as ALGORITHM_NAME
from decision.policy.algorithm import Algorithm, read_algorithm
from decision.policy.model import NAME as MODEL_NAME
from decision.policy.model import Model, read_model
from decision.policy.network_policy import NAME as NETWORK_NAME
from decision.policy.network_policy import NetworkPolicy, read_network_policy
from decision.policy.student import NAME as STUDENT_NAME
from decision.policy.student import Student, read_student

Pupil = Student | NetworkPolicy
"""What was made from a teacher of ours."""
Decider = Pupil | Model | Algorithm


def decider_file(firmware: Opened) -> str:
    """The name of the file that a firmware folder was emitted from. InputError where there is none."""
    names = (STUDENT_NAME, NETWORK_NAME, MODEL_NAME, ALGORITHM_NAME)
    present = [name for name in names if name in firmware.contents]
    if len(present) != 1:
        holds = f"both {' and '.join(present)}" if present else f"none of {', '.join(names)}"
        raise InputError(f"{firmware.folder} holds {holds}, of which a firmware has one; emit it again")
    return present[0]


def load_decider(firmware: Path | Opened) -> Decider:
    """Returns the decider of a firmware folder, read and checked."""
    artefact = of_kind(firmware, "firmware")
    file = decider_file(artefact)
    content, where = artefact.contents[file], str(artefact.folder / file)
    if file == NETWORK_NAME:
        return read_network_policy(content, where)
    if file == ALGORITHM_NAME:
        return read_algorithm(content, where)
    return read_model(content, where) if file == MODEL_NAME else read_student(content, where)


def load_pupil(firmware: Path | Opened) -> Pupil:
    """The same of a folder that was made from a teacher of ours. InputError for any other."""
    artefact = of_kind(firmware, "firmware")
    decider = load_in_network(artefact)
    if isinstance(decider, Algorithm):
        raise InputError(f"{artefact.folder} is of {decider_kind(decider)}, which has no teacher; give a student's")
    return decider


def load_in_network(firmware: Path | Opened) -> Pupil | Algorithm:
    """The same of a folder whose agents are in a network. InputError for a decider that has none there."""
    artefact = of_kind(firmware, "firmware")
    decider = load_decider(artefact)
    if isinstance(decider, Model):
        raise InputError(
            f"{artefact.folder} is of {decider_kind(decider)}, which no network asks; give a student or a network"
        )
    return decider


def decider_kind(decider: Model | Algorithm) -> str:
    """Returns the words for a decider without a teacher."""
    return "a model made elsewhere" if isinstance(decider, Model) else "a hand-written algorithm"


def student_of(artefact: Opened) -> Student:
    """The student in the folder of a student or of its firmware."""
    return read_student(artefact.content(STUDENT_NAME), str(artefact.folder / STUDENT_NAME))

"""Results of an emulation, stored next to the firmware: the gate takes them if this machine made them itself.

A report can be written by anyone. It is believed where the user's cache remembers this very report of this very image
on this engine, by this emulator (rlcc.gate.check_cache); else the vectors are run again.
"""

from pathlib import Path

from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.output import write_atomically, writing
from emulator.build import Build
from emulator.report import EmulationReport, from_json
from rlcc.gate.check_cache import Remembered
from verify.trusted.certificate import image_hash

KIND = "emulation"
"""And the folder's name, beside the firmware."""
FILE = "report.json"


def keep(report: EmulationReport, build: Build, folder: Path, remembered: Remembered) -> None:
    """Write the artefact; remember it where all vectors ran."""
    with writing(folder, KIND, parents={"firmware": build.firmware.hash}) as work:
        write_atomically(work / FILE, dump_json(report.to_json()))
    if report.passed:
        remembered.keep(KIND, _deciding(build, opened(folder, KIND).hash))


def stored_report(build: Build, folder: Path, remembered: Remembered) -> EmulationReport | None:
    """The report of this build that was made here before; None where there is none, or one of anything else."""
    try:
        manifest = opened(folder, KIND)
        if build.linked is None or manifest.parents.get("firmware") != build.firmware.hash:
            return None
        if not remembered.holds(KIND, _deciding(build, manifest.hash)):
            return None
        return from_json(manifest.json(FILE))
    except InputError:
        return None


def _deciding(build: Build, report: str) -> dict[str, object]:
    """Everything that a report follows from, and its own hash; the emulator's source and tools come to it."""
    return {
        "report": report,
        "firmware": build.firmware.hash,
        "image": image_hash(build.image),
        "profile": build.engine.model_dump(mode="json"),
        "compiler": [build.toolchain.compiler.name, build.toolchain.compiler.version, build.toolchain.opt],
    }

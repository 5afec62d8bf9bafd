"""``certificate.json``: what was proved about which machine code, on what it rests, and the means to check it again.

The file is canonical JSON without times or paths, so that the same firmware and tools give the same bytes. ``hash`` is
over what is claimed, and of which program and image: it is the same on every machine. The rest stands beside that, the
means to check it and where it came from. The solver's questions lie in ``certificate.queries.gz``, known by their
hashes.
"""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from decision.artefact.documents import WHOLE_NUMBER, parse_json, read_bytes, validate
from decision.artefact.errors import InputError
from decision.artefact.strict import Strict
from emulator.build import Build
from emulator.compile import C_FLAGS
from emulator.elf import Image
from emulator.firmware import ENTRY, PROGRAM
from verify.trusted.deviation import TeacherClaim

FORMAT = 3
REMEDY = "prove the firmware again, and all that this one claims of it"
FILES = {"program": PROGRAM, "source": "rlcc_policy.c", "header": "rlcc_policy.h", "student": "student.json"}

ASSUMPTIONS = (
    "the decision program (program.json) is the specification",
    "the decoder, the meaning given to instructions and the linked image are those of the engine",
    "the structures are valid, aligned, do not overlap each other or the stack, and nobody else writes them",
    "the function is called by the calling convention, with enough stack, and is not interrupted",
    "cycles are those of the cost model: tested against the core's RTL, not proved",
    "the memories answer with the wait states of the engine's profile",
    "the solvers are right where they say that a question has no solution",
)


Word = Annotated[int, Field(ge=-(2**63), lt=2**63)]
"""A value of the program."""
Count = Annotated[int, Field(ge=0, lt=2**63)]


class _Part(Strict):
    model_config = ConfigDict(strict=True)


class Subject(_Part):
    """Subject of the claims: SHA-256 of each file and of the linked image's bytes."""

    firmware: str
    files: dict[str, str]
    image: str
    entry: str
    compiler: str
    compiler_version: str
    flags: Annotated[list[str], Field(min_length=1)]


class Engine(_Part):
    """The core and the cost model, with the calibration that ties them."""

    profile: dict[str, Any]
    core: str
    model: Literal["exact", "bounded"]
    calibration: dict[str, str | Count]


class WorstCase(_Part):
    """Cycles. ``exact`` is None where only the bound is proved; the witness is the slowest input that was found."""

    bound: Count
    exact: Count | None
    witness: dict[str, Word]
    outputs: dict[str, Word]
    """By knob, and by "context.x"."""
    rtl_cycles: Count

    @property
    def cycles(self) -> int:
        """Returns the cycles that no input exceeds, as tight as they are proved."""
        return self.bound if self.exact is None else self.exact

    @property
    def said(self) -> str:
        """``cycles``, and whether an input takes them."""
        return f"{self.cycles} cycles {'at most' if self.exact is None else 'exactly'}"


class Claims(_Part):
    equality: Literal[True]
    safety: Literal[True]
    stack_bytes: Word
    worst_case: WorstCase


class CutClaim(_Part):
    """At an address: what each location holds, in the notation of ``verify.check.notation``; bounds of values."""

    pc: Count
    holds: dict[str, str]
    bounds: dict[str, Annotated[list[Word], Field(min_length=2, max_length=2)]]


class Query(_Part):
    """A question to the solvers that has no solution."""

    sha256: str
    solvers: list[str]


Verdict = Literal["holds", "fails", "found"]


class FindingClaim(_Part):
    """Finding on a property, in words, and a state that shows it."""

    says: str
    verdict: Verdict
    value: str
    witness: dict[str, Word]


class PropertyClaim(_Part):
    """``asked``: the table of the file (verify/trusted/properties.py); of each feature that it is about a finding.
    A property that the checker does not decide again is no claim."""

    asked: dict[str, Any]
    findings: Annotated[list[FindingClaim], Field(min_length=1)]


class Certificate(_Part):
    """See the module's docstring."""

    format: Annotated[Literal[3], WHOLE_NUMBER]
    subject: Subject
    engine: Engine
    claims: Claims
    assumptions: list[str]
    tools: dict[str, str]
    cells: Count
    cuts: list[CutClaim]
    queries: list[Query]
    behaviour: list[PropertyClaim] = Field(default=[], exclude_if=lambda claims: not claims)
    teacher: TeacherClaim | None = Field(default=None, exclude_if=lambda claim: claim is None)
    hash: str


def subject_of(build: Build) -> Subject:
    """Returns the subject of a build: claims are about these very bytes. InputError where some of them are rlcc's own:
    a loop that multiplies is none of the decision's."""
    if build.provided:
        raise InputError(f"{build.firmware.source} needs what the engine has not: {', '.join(build.provided)}")
    files = build.firmware.manifest.files
    return Subject(
        firmware=build.firmware.hash,
        files={key: files[name] for key, file in FILES.items() if (name := build.firmware.named(file)) in files},
        image=image_hash(build.image),
        entry=ENTRY,
        compiler=build.toolchain.compiler.name,
        compiler_version=build.toolchain.compiler.version,
        flags=[*C_FLAGS, build.toolchain.opt],
    )


def witness_bytes(build: Build, witness: dict[str, int]) -> list[bytes]:
    """The blocks' bytes of a certificate's witness; InputError where it is no input."""
    try:
        return build.inputs(witness)
    except KeyError as error:
        raise InputError(f"the certificate's witness lacks {error}; {REMEDY}") from None
    except OverflowError as error:
        raise InputError(f"the certificate's witness does not fit its structures ({error}); {REMEDY}") from None


def image_hash(image: Image) -> str:
    """SHA-256 over the linked program's bytes, their addresses and the entry."""
    digest = hashlib.sha256(f"{image.symbols[ENTRY]} {image.symbols['rlcc_back']}".encode())
    for section in sorted(image.sections, key=lambda s: s.address):
        digest.update(f" {section.address} {len(section.data)} ".encode() + section.data)
    return digest.hexdigest()


def sealed(content: dict[str, Any]) -> Certificate:
    """A certificate of these parts, with its hash."""
    return Certificate.model_validate({**content, "hash": content_hash(content)})


MEANS: tuple[str, ...] = (
    *("hash", "tools", "cells", "cuts", "queries", "subject.firmware", "subject.files"),
    *("claims.worst_case.witness", "claims.worst_case.outputs", "claims.worst_case.rtl_cycles"),
    *("teacher.reached", "teacher.witness", "teacher.student", "teacher.around"),
)
"""Fields that claim nothing: the means to check what is claimed, and what it was made of and with."""


def content_hash(content: dict[str, Any]) -> str:
    """SHA-256 over all but ``MEANS``, and over the program's own hash. ``content`` may be of any form."""
    program: Any = content
    for key in ("subject", "files", "program"):
        program = program.get(key) if isinstance(program, dict) else None
    stated = {"program": program, **_claimed(content)}
    return hashlib.sha256(json.dumps(stated, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _claimed(content: dict[str, Any], place: str = "") -> dict[str, Any]:
    return {
        key: _claimed(value, f"{place}{key}.") if isinstance(value, dict) else value
        for key, value in content.items()
        if f"{place}{key}" not in MEANS
    }


def extended(certificate: Certificate, **claims: Any) -> Certificate:
    """The same with claims besides, under a hash of its own."""
    content = certificate.model_copy(update=claims).model_dump(mode="json")
    return sealed({key: value for key, value in content.items() if key != "hash"})


def read_certificate(path: Path) -> Certificate:
    """Read a certificate; one that was edited, or is of another format, raises InputError."""
    return certificate_of(read_bytes(path), str(path))


def certificate_of(content: bytes, path: str) -> Certificate:
    """The same of the file's bytes; ``path`` names it."""
    data = parse_json(content, path)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"{path} is no certificate of format {FORMAT}; {REMEDY}")
    certificate = validate(Certificate, data, path)
    if content_hash(data) != certificate.hash:
        raise InputError(f"{path} was changed after it was written: its content does not have its hash; {REMEDY}")
    return certificate

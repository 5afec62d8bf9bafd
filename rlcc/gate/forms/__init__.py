"""Forms of a firmware's program next to its C, each judged by the module here that has the name of its key in the
manifest: a new form is a new module."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Protocol, cast

from decision.artefact.manifest import Opened
from decision.ir.program import Program
from rlcc.gate.check_cache import Remembered
from rlcc.gate.verdict import Check


class Form(Protocol):
    """Members of a module here. ``KEY``: key of its claims in verdict.json, and name of its stage in the output."""

    KEY: str

    def judge(
        self, firmware: Opened, program: Program, say: Callable[[str], None], remembered: Remembered | None = None
    ) -> tuple[list[Check], dict[str, Any]]:
        """Returns the checks of a firmware that has the form, and the claims that they are about. InputError where a
        tool is missing. ``remembered``: what passed before is not run again."""

    def figures(self, checks: Sequence[Check], claims: dict[str, Any]) -> dict[str, str]:
        """Returns the lines of the stage."""


def forms_of(firmware: Opened) -> list[Form]:
    """Returns the forms that a firmware has next to its C."""
    names = [module.name for module in iter_modules(__path__) if module.name in firmware.details]
    return [cast(Form, import_module(f"{__name__}.{name}")) for name in names]

"""The command line, recipes, pipeline, gate and report: trained congestion-control policies to checked firmware.

For notebooks: ``rlcc.run``, ``rlcc.opened``, ``rlcc.import_log`` and ``rlcc.distill`` (docs/reference/api.md), loaded
when they are first asked for.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "Artefact",
    "Firmware",
    "Rollouts",
    "Run",
    "Student",
    "Teacher",
    "Verdict",
    "distill",
    "import_log",
    "opened",
    "run",
]

if TYPE_CHECKING:
    from rlcc.api import (
        Artefact,
        Firmware,
        Rollouts,
        Run,
        Student,
        Teacher,
        Verdict,
        distill,
        import_log,
        opened,
        run,
    )


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'rlcc' has no attribute {name!r}")
    from rlcc import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

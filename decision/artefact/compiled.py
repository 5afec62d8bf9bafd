"""The sentence for a compiled module of rlcc's that this Python on this machine cannot load."""

import platform
from pathlib import Path

from decision.artefact.errors import InputError

MODULES = {"netsim": "_core", "emulator": "_fast", "teachers": "_mkl"}
"""Package -> its module, as netsim/core/CMakeLists.txt builds them."""


def unusable(error: ImportError) -> InputError | None:
    """The sentence where ``error`` is of one of rlcc's compiled modules; None where it is of anything else."""
    here = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    mend = "install a wheel of rlcc for it, or build it: make setup in a checkout (docs/reference/platforms.md)"
    for package, module in MODULES.items():
        name = f"{package}.{module}"
        if error.name == module and error.path and Path(error.path).parent.name == package:  # as dlopen says it
            return InputError(f"rlcc's compiled module {name} does not load in {here} ({error}); {mend}")
        if error.name == name or (error.name == package and f"import name '{module}'" in str(error)):
            return InputError(f"rlcc's compiled module {name} is not built for {here}; {mend}")
    return None

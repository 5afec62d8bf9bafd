"""A command's callback: the handler of its name in rlcc/handlers, imported when the command runs."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any


def handled(declaration: Callable[[], None]) -> Callable[..., Any]:
    """Returns a callback that calls ``rlcc.handlers.NAME.handle`` with the options and returns its exit code.

    NAME: the module of ``declaration``, whose docstring is the command's help. Help, completion and refused arguments
    import no handler.
    """
    name = declaration.__module__.rpartition(".")[2]

    @wraps(declaration)
    def callback(**options: Any) -> Any:
        return import_module(f"rlcc.handlers.{name}").handle(**options)

    return callback

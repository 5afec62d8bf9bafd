"""What the tests of the commands share."""

from collections.abc import Callable

import pytest
from shared_results import shared_results

from rlcc import cli

__all__ = ["evaluate", "shared_results"]


@pytest.fixture
def evaluate(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run the command; what it printed."""

    def run(*arguments: object) -> str:
        capsys.readouterr()
        assert cli.main(["evaluate", *map(str, arguments)]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return run

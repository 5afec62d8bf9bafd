"""The marker ``slow_except("id", ...)``: every other case of a parametrised test is slow.

An id is what stands in brackets behind the test's name; a ``*`` in it stands for any text. The whole sweep runs with
``make test-slow``.
"""

from fnmatch import fnmatchcase

import pytest

MARKER = "slow_except"


def pytest_itemcollected(item: pytest.Item) -> None:
    """Adds the marker ``slow`` to the cases that their test does not name."""
    marker = item.get_closest_marker(MARKER)
    if marker is not None and not any(is_named(item, pattern) for pattern in marker.args):
        item.add_marker(pytest.mark.slow)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Raises UsageError where a test names a case that it does not have, or no case at all."""
    if any("::" in argument for argument in config.args):  # some cases of a test may not be collected
        return
    unused: dict[str, set[str]] = {}
    for item in items:
        marker = item.get_closest_marker(MARKER)
        if marker is not None:
            left = unused.setdefault(item.nodeid.partition("[")[0], set(marker.args) or {"no case"})
            left -= {pattern for pattern in left if is_named(item, pattern)}
    for test, names in unused.items():
        if names:
            missing = ", ".join(sorted(names))
            raise pytest.UsageError(f"{test}: {MARKER} names {missing}, which it lacks; name one of its cases")


def is_named(item: pytest.Item, pattern: str) -> bool:
    """Returns whether what stands in brackets behind the test's name is this, ``*`` being any text."""
    return fnmatchcase(item.name.partition("[")[2].removesuffix("]"), pattern.replace("[", "[[]"))

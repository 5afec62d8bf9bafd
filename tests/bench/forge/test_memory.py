"""What the memory remembers by: arguments of every function in it have a key."""

from bench.forge.memory import key_of
from verify.check.path_facts import Oracle


def test_a_new_oracle_has_a_key_and_a_used_one_another() -> None:
    """Without a key the checker would walk the same code anew for each forgery."""
    assert key_of(Oracle()) is not None
    assert key_of(Oracle()) == key_of(Oracle())
    assert key_of(Oracle(asked=1)) != key_of(Oracle())

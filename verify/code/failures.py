"""Causes that make a proof fail, each by its name."""

from dataclasses import dataclass, field

KINDS = (
    "wrong-result",  # a knob is not the program's
    "wrong-context",  # a field of the context is not what the program writes back
    "not-proved",  # neither proved nor refuted within the limits
    "store-outside",  # a store to anything but the context, the action and the own frame
    "load-outside",  # a load outside the structures, the constants and the own frame
    "load-unwritten",  # a value that nothing has written: stack below, a register at the call
    "load-address",  # an address that depends on the inputs in a way that cannot be split into cases
    "misaligned",
    "indirect-jump",
    "loop",
    "illegal-instruction",
    "callee-saved",  # a register that the calling convention keeps is changed at the return
    "stack-pointer",  # sp is not at the return what it was at the call
    "stack-size",
    "too-large",  # more cells or positions than the limits allow
)


@dataclass(frozen=True)
class Failure:
    """Why there is no proof: what, at which instruction, and where possible an input for which it happens.

    ``example`` holds the words of "event.x", "params.x" and "context.x"; ``shown`` says what came of it: what the code
    did and what the program says.
    """

    kind: str
    address: int
    text: str
    example: dict[str, int] = field(default_factory=dict)
    shown: str = ""


class Refused(Exception):
    """Raised where execution cannot go on; carries the failure."""

    def __init__(self, kind: str, address: int, text: str) -> None:
        super().__init__(text)
        assert kind in KINDS, kind
        self.failure = Failure(kind, address, text)

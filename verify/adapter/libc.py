"""Functions of the C library that compilers call for structures: memcpy and memset, for whole words."""

from verify.adapter.external import ExternalCall, Model
from verify.adapter.policy import WORD
from verify.code.failures import Refused
from verify.rv64.values import MachineWord


def copied(call: ExternalCall) -> MachineWord:
    """Copies words to a0 from a1, which are a2 bytes long and do not overlap."""
    to, source = call.argument(0), call.argument(1)
    offsets = _offsets(call)
    if source.base == to.base and abs(to.signed - source.signed) < WORD * len(offsets):
        raise Refused("not-proved", call.i.address, f"the call at {call.i.address:#x} copies between what overlaps")
    for offset in offsets:
        call.write(0, offset, call.word(1, offset))
    return to


def filled(call: ExternalCall) -> MachineWord:
    """Fills a2 bytes at a0 with zeros."""
    value = call.argument(1)
    if not value.constant or value.base or value.signed:
        raise Refused("not-proved", call.i.address, f"memset at {call.i.address:#x} fills with other than zeros")
    for offset in _offsets(call):
        call.write(0, offset, value)
    return call.argument(0)


def _offsets(call: ExternalCall) -> range:
    """The offsets of a call's words. Refused: pointers or a length that inputs decide, and parts of words."""
    length = call.argument(2)
    if not all(call.argument(n).constant for n in range(3)) or length.base or not 0 <= length.signed < 1 << 12:
        raise Refused("load-address", call.i.address, f"the inputs decide what the call at {call.i.address:#x} copies")
    if length.signed % WORD:
        raise Refused("not-proved", call.i.address, f"the call at {call.i.address:#x} copies a part of a word")
    return range(0, length.signed, WORD)


LIBRARY: dict[str, Model] = {"memcpy": copied, "memset": filled}

"""Lines of Falcon's rate update engine as bytes."""

from verify.adapter.falcon_lines import LINE_BITS, fields


def pack(line: str, values: dict[str, int]) -> bytes:
    """Those not given are 0; a value beyond its field is an error."""
    whole, left = 0, dict(values)
    for name, at, width in fields(line):
        value = left.pop(name, 0)
        assert 0 <= value < 1 << width, (name, value)
        whole |= value << at
    assert not left, left
    return whole.to_bytes(LINE_BITS // 8, "little")


def unpack(line: str, memory: bytes) -> dict[str, int]:
    whole = int.from_bytes(memory, "little")
    return {name: whole >> at & ((1 << width) - 1) for name, at, width in fields(line)}

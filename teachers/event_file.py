"""Scalars as TensorBoard reads them: a file of records, each an `Event` message of TensorFlow's `event.proto`.

    record = length u64, crc(length) u32, message, crc(message) u32        little-endian; crc: CRC-32C, masked
    Event  = { 1: wall_time f64, 2: step, one of 3: file_version, 5: Summary, 7: SessionLog }

Nothing is written but what a curve takes: `Summary.Value { tag, simple_value }`.
"""

import struct
from collections.abc import Mapping

VERSION = b"brain.Event:2"
_POLYNOMIAL = 0x82F63B78  # CRC-32C (Castagnoli), reflected


def _row(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_ROWS = tuple(_row(byte) for byte in range(256))


def crc32c(data: bytes) -> int:
    """The checksum of iSCSI: 0xE3069283 of b"123456789"."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _ROWS[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def record(message: bytes) -> bytes:
    """One message in its frame."""
    length = struct.pack("<Q", len(message))
    return length + _masked(length) + message + _masked(message)


def header(wall_time: float) -> bytes:
    """Returns the first bytes of a file."""
    return record(_event(wall_time, 0, _bytes(3, VERSION)))


def begun(wall_time: float, step: int) -> bytes:
    """A run that goes on from ``step``: what an earlier file says of this step and later ones does not hold."""
    return record(_event(wall_time, step, _bytes(7, _number(1, 1))))


def scalars(wall_time: float, step: int, values: Mapping[str, float]) -> bytes:
    """One point of each curve, by name."""
    parts = [_bytes(1, _bytes(1, tag.encode()) + b"\x15" + struct.pack("<f", value)) for tag, value in values.items()]
    return record(_event(wall_time, step, _bytes(5, b"".join(parts))))


def _event(wall_time: float, step: int, what: bytes) -> bytes:
    return b"\x09" + struct.pack("<d", wall_time) + _number(2, step) + what


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

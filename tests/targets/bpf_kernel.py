"""Asks this machine's kernel, by libbpf, to verify a BPF object; nothing is attached, all goes with the process.

Skips the test where there is no libbpf, no BTF of the kernel, or no right to load programs.
"""

import ctypes
import re
from pathlib import Path

import pytest

LOG_BYTES, STATISTICS = 1 << 16, 4  # log level: only the counts
ALLOWED = (38, 39)  # CAP_PERFMON, CAP_BPF


def verified(path: Path) -> dict[str, int]:
    """Instructions that the verifier processed, by program; AssertionError with its log where it refuses one."""
    bpf = _libbpf()
    bpf.libbpf_set_print(None)
    opened = bpf.bpf_object__open_file(str(path).encode(), None)
    assert opened, f"libbpf does not open {path}"
    logs = {}
    program = bpf.bpf_object__next_program(opened, None)
    while program:
        log = ctypes.create_string_buffer(LOG_BYTES)
        logs[bpf.bpf_program__name(program).decode()] = log
        bpf.bpf_program__set_log_level(program, STATISTICS)
        bpf.bpf_program__set_log_buf(program, log, LOG_BYTES)
        program = bpf.bpf_object__next_program(opened, program)
    status = bpf.bpf_object__load(opened)
    texts = {name: log.value.decode() for name, log in logs.items()}
    bpf.bpf_object__close(opened)
    assert status == 0, "\n".join(text[-2000:] for text in texts.values())
    return {name: int(re.findall(r"processed (\d+) insns", text)[-1]) for name, text in texts.items()}


def _libbpf() -> ctypes.CDLL:
    if not Path("/sys/kernel/btf/vmlinux").exists():
        pytest.skip("the kernel tells nothing of its types (no BTF)")
    effective = int(re.findall(r"CapEff:\s*(\w+)", Path("/proc/self/status").read_text())[0], 16)
    if not all(effective >> bit & 1 for bit in ALLOWED):
        pytest.skip("no right to load BPF programs")
    try:
        bpf = ctypes.CDLL("libbpf.so.1")
    except OSError:
        pytest.skip("no libbpf: apt install libbpf1")
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    for name, result, arguments in (
        ("bpf_object__open_file", pointer, (text, pointer)),
        ("bpf_object__next_program", pointer, (pointer, pointer)),
        ("bpf_program__name", text, (pointer,)),
        ("bpf_program__set_log_level", ctypes.c_int, (pointer, ctypes.c_uint32)),
        ("bpf_program__set_log_buf", ctypes.c_int, (pointer, text, ctypes.c_size_t)),
        ("bpf_object__load", ctypes.c_int, (pointer,)),
        ("bpf_object__close", None, (pointer,)),
    ):
        function = getattr(bpf, name)
        function.restype, function.argtypes = result, arguments
    return bpf

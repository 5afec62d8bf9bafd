"""What `rlcc tune` writes is what C keeps: layouts and defaults by a compiler, ranges by the adapters themselves."""

import ctypes
from pathlib import Path

import pytest

from codegen.tuning import packed, unpacked, words_of
from decision.ir.interfaces.flow_rate import LINE_RATE_Q30

FALCON = """#include "falcon_rue.h"
const rlcc_rue_params tuned = RLCC_RUE_PARAMS_DEFAULT;
const uint32_t tuned_bytes = sizeof tuned;
"""
GENERIC = """#include "rlcc_policy.h"
const rlcc_params tuned = RLCC_PARAMS_DEFAULT;
const uint32_t tuned_bytes = sizeof tuned;
"""
BPF = """#include "rlcc_bpf.c"
const uint32_t tuned_bytes = sizeof rlcc_tuned;
"""
KEPT = {"linux-bpf": (BPF, "rlcc_tuned"), "falcon-rue": (FALCON, "tuned"), "generic": (GENERIC, "tuned")}


def kept(target: str, folder: Path, library, tmp_path: Path) -> tuple[ctypes.CDLL, bytes]:
    """The structure as a compiler lays it out and fills it."""
    text, symbol = KEPT[target]
    source = tmp_path / "tuned.c"
    source.write_text(text)
    more = {"falcon-rue": ["rlcc_falcon_rue.c", "rlcc_policy.c"], "linux-bpf": [], "generic": ["rlcc_policy.c"]}
    made = ctypes.CDLL(str(library(folder, source, *more[target])))
    size = ctypes.c_uint32.in_dll(made, "tuned_bytes").value
    return made, bytes((ctypes.c_char * size).in_dll(made, symbol))


@pytest.mark.slow_except(
    "tunable-linux-bpf", "tunable-falcon-rue", "losing-generic", "options-generic", "told-linux-bpf", "rl_cc-falcon-rue"
)
@pytest.mark.parametrize("target", KEPT)
@pytest.mark.parametrize("student", ["rl_cc", "losing", "options", "told", "tunable"])
def test_the_defaults_are_the_bytes_of_c(student, target, firmware, library, tmp_path):
    folder = firmware(student, target)
    words = words_of(folder)
    made = packed(words, {w.name: w.default for w in words})
    assert made == kept(target, folder, library, tmp_path)[1]
    assert unpacked(words, made) == {w.name: w.default for w in words}


def test_each_field_stands_where_c_has_it(firmware, library, tmp_path):
    """A value of its own in every field, read back by name."""
    folder = firmware("options", "linux-bpf")
    words = words_of(folder)
    names = [w.name for w in words]
    reads = "".join(
        f"uint64_t read_{n}(const rlcc_tuning *t) {{ return t->{n if i > len(words) - 6 else 'params.' + n}; }}\n"
        for i, n in enumerate(names)
    )
    source = tmp_path / "fields.c"
    source.write_text('#include "rlcc_bpf.c"\n' + reads)
    made = ctypes.CDLL(str(library(folder, source)))
    values = {w.name: min(w.low + 1 + i, w.high) for i, w in enumerate(words)}
    content = packed(words, values)
    for name, value in values.items():
        read = getattr(made, f"read_{name}")
        read.restype = ctypes.c_uint64
        assert read(content) == value, name


@pytest.mark.parametrize("student", ["rl_cc", "losing", "options", "tunable"])
def test_falcons_ranges_are_those_that_its_adapter_takes(student, firmware, library, tmp_path):
    folder = firmware(student, "falcon-rue")
    words = words_of(folder)
    in_range = kept("falcon-rue", folder, library, tmp_path)[0].rlcc_rue_params_in_range
    plain = {w.name: w.default for w in words}
    for word in words:
        for value, taken in ((word.low, 1), (word.high, 1), (word.low - 1, 0), (word.high + 1, 0)):
            if not 0 <= value < 2**32:
                continue
            content = b"".join((plain | {word.name: value})[w.name].to_bytes(4, "little") for w in words)
            assert in_range(content) == taken, (word.name, value)


def test_the_kernels_adapter_takes_what_is_in_range_and_no_other(firmware, library, tmp_path):
    """Of each parameter the value itself at both ends, the default beyond them."""
    folder = firmware("options", "linux-bpf")
    words = words_of(folder)
    source = tmp_path / "read.c"
    source.write_text(
        '#include "rlcc_bpf.c"\nvoid read_params(const rlcc_tuning *t, rlcc_params *p)\n'
        "{ *(rlcc_tuning *)&rlcc_tuned = *t; rlcc_read_params(p); }\n"
    )
    made = ctypes.CDLL(str(library(folder, source)))
    params = words[:-5]
    plain = {w.name: w.default for w in words} | {"rate_start_q30": 0}
    for i, word in enumerate(params):
        for value, expected in (
            (word.low, word.low),
            (word.high, word.high),
            (word.low - 1, word.default),
            (word.high + 1, word.default),
        ):
            if not 0 <= value < 2**32:
                continue
            content = bytearray(packed(words, plain))
            content[4 * i : 4 * i + 4] = value.to_bytes(4, "little")
            out = (ctypes.c_uint32 * len(params))()
            made.read_params(bytes(content), out)
            assert out[i] == expected, (word.name, value)
    assert max(w.high for w in words if w.unit == "line rate / 2^30") == LINE_RATE_Q30

"""Firmware folders made by hand: a tiny policy in C with its layout and vectors, small enough to check by eye."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from decision.manifest import writing
from emulator import sources, time_function

HEADER = """\
#ifndef RLCC_POLICY_H
#define RLCC_POLICY_H
#include <stdint.h>
typedef struct { uint32_t rate_q30; int16_t action_1; uint16_t seen; } rlcc_flow;
typedef struct { uint32_t request_sent_ns; uint32_t response_ns; } rlcc_event;
typedef struct { uint32_t base_rtt_recip_q32; } rlcc_params;
uint32_t rlcc_decide(rlcc_flow *flow, const rlcc_event *event, const rlcc_params *params);
#endif
"""

POLICY = """\
#include "rlcc_policy.h"
uint32_t rlcc_decide(rlcc_flow *flow, const rlcc_event *event, const rlcc_params *params) {
  const uint32_t rtt_ns = event->response_ns - event->request_sent_ns;
  const uint32_t inflation = (uint32_t)(((uint64_t)rtt_ns * params->base_rtt_recip_q32) >> 32);
  if (inflation > 3U) {
    flow->rate_q30 = flow->rate_q30 >> 1;
    flow->action_1 = -100;
  } else {
    flow->rate_q30 = flow->rate_q30 + 7U;
    flow->action_1 = 100;
  }
  flow->seen = (uint16_t)(flow->seen + 1U);
  return flow->rate_q30 >> 10;
}
"""

STRUCTS = {
    "flow": {
        "size": 8,
        "fields": [
            {"name": "rate_q30", "ctype": "uint32_t", "offset": 0},
            {"name": "action_1", "ctype": "int16_t", "offset": 4},
            {"name": "seen", "ctype": "uint16_t", "offset": 6},
        ],
    },
    "event": {
        "size": 8,
        "fields": [
            {"name": "request_sent_ns", "ctype": "uint32_t", "offset": 0},
            {"name": "response_ns", "ctype": "uint32_t", "offset": 4},
        ],
    },
    "params": {"size": 4, "fields": [{"name": "base_rtt_recip_q32", "ctype": "uint32_t", "offset": 0}]},
}

COLUMNS = [
    *("kind", "event.request_sent_ns", "event.response_ns", "params.base_rtt_recip_q32"),
    *("flow.rate_q30", "flow.action_1", "flow.seen"),
    *("expect.return", "expect.rate_q30", "expect.action_1", "expect.seen"),
]


def decide(kind: str, sent: int, response: int, recip: int, rate: int, action: int, seen: int) -> tuple[Any, ...]:
    """POLICY again, in Python: one row of vectors.csv."""
    congested = ((response - sent) % 2**32 * recip >> 32) > 3
    new = rate >> 1 if congested else (rate + 7) % 2**32
    return (
        kind,
        sent,
        response,
        recip,
        rate,
        action,
        seen,
        new >> 10,
        new,
        -100 if congested else 100,
        (seen + 1) % 2**16,
    )


VECTORS = [
    decide("edge:new agent", 0, 0, 0, 0, 0, 0),
    decide("random", 1000, 9000, 2**32 // 8192, 2**29, 5, 41),
    decide("edge:congested", 1000, 1000 + 4 * 8192, 2**32 // 8192, 2**30, -32768, 65535),
    decide("edge:rtt wraps", 2**32 - 500, 4 * 8192 - 500, 2**32 // 8192, 12345678, 32767, 7),
    decide("edge:below", 0, 4 * 8192 - 1, 2**32 // 8192, 12345678, 0, 0),
    decide("edge:largest", 0, 2**32 - 1, 2**32 - 1, 2**32 - 1, 0, 0),
]

FolderMaker = Callable[..., Path]


@pytest.fixture
def firmware_folder(tmp_path: Path) -> FolderMaker:
    """Makes a firmware folder; every part can be replaced."""

    def make(
        policy: str = POLICY,
        vectors: Sequence[Sequence[Any]] = VECTORS,
        structs: Mapping[str, Any] = STRUCTS,
        header: str = HEADER,
        columns: Sequence[str] = COLUMNS,
        name: str = "firmware",
    ) -> Path:
        with writing(tmp_path / name, "firmware", details={"layout": structs}) as folder:
            (folder / "rlcc_policy.c").write_text(policy)
            (folder / "rlcc_policy.h").write_text(header)
            lines = [",".join(map(str, row)) for row in [columns, *vectors]]
            (folder / "vectors.csv").write_text("\n".join(lines) + "\n")
        return tmp_path / name

    return make


@pytest.fixture
def policy_source() -> str:
    """The hand-written policy, for tests that edit it."""
    return POLICY


@pytest.fixture
def header_source() -> str:
    """Its header, for tests that edit it."""
    return HEADER


@pytest.fixture
def compiler_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets hand-made policies use words of the compiler's own that emitted C never has, to make a core trap."""
    allowed = sources.RESERVED | {"__builtin_trap", "__attribute__"}
    monkeypatch.setattr(sources, "RESERVED", allowed)


@pytest.fixture
def good_vectors() -> list[tuple[Any, ...]]:
    """Its vectors, for tests that edit them."""
    return list(VECTORS)


SnippetTimer = Callable[..., int]


def assembly(body: str) -> str:
    """A C file whose only function, f, is this assembly and a return."""
    lines = body.replace(";", "\\n")
    return f'__asm__(".text\\n.globl f\\n.type f,@function\\nf:\\n{lines}\\nret\\n.size f,.-f");\n'


@pytest.fixture
def cycles(tmp_path: Path) -> SnippetTimer:
    """Times a snippet of assembly and the return behind it on a profile's core."""

    def timed(body: str, profile: str | Path, row: tuple[int, ...] = (5, 3, 0, 7)) -> int:
        source = tmp_path / "snippet.c"
        source.write_text(assembly(body))
        return time_function(source, "f", [row], profile=profile).cycles.max

    return timed


@pytest.fixture
def assembled(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a snippet of assembly as the function f of a C file."""

    def write(body: str) -> Path:
        source = tmp_path / "snippet.c"
        source.write_text(assembly(body))
        return source

    return write

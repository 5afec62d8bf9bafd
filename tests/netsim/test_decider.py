"""A core behind the C seam that decides and says what that takes: here a small one in C, whose cycles are known."""

import ctypes
import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.artefact.errors import InputError
from netsim import Engines, Simulation, policies
from netsim.network import MS
from tests.netsim.test_compiled import INSTALLED, SOURCE, build

INCLUDE = Path(__file__).parents[2] / "decision/include/rlcc_decider.h"

CORE = (
    SOURCE
    + """
#include <string.h>
#include "HEADER"

typedef struct { uint64_t fixed, spread; uint32_t faults_after, decided; } core;
static core cores[4];
static rlcc_decider deciders[4];

static uint64_t decide(void *self, void *context, const void *event, const void *params, uint32_t *rate_q20) {
  core *c = self;
  uint32_t response;
  memcpy(&response, (const char *)event + 4, 4);
  if (c->faults_after != 0 && c->decided >= c->faults_after) return 0;
  ++c->decided;
  *rate_q20 = rlcc_decide(context, event, params);
  return c->fixed + (c->spread ? response % c->spread : 0);
}
static const char *fault(void *self) { (void)self; return "the core read outside of its memory at 0x00000bad"; }

rlcc_decider *make(unsigned i, uint64_t fixed, uint64_t spread, uint32_t faults_after, uint32_t version) {
  cores[i] = (core){fixed, spread, faults_after, 0};
  deciders[i] = (rlcc_decider){version, rlcc_flow_bytes, &cores[i], decide, fault};
  return &deciders[i];
}
"""
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("decider"), CORE.replace("HEADER", str(INCLUDE)))


@pytest.fixture
def core(library: Path) -> Any:
    """The address of a core by its cycles, and how long a context is."""
    loaded = ctypes.CDLL(str(library))
    loaded.make.restype = ctypes.c_void_p
    loaded.make.argtypes = [ctypes.c_uint, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint32]
    context_bytes = ctypes.c_uint32.in_dll(loaded, "rlcc_flow_bytes").value

    def make(fixed: int, spread: int = 0, faults_after: int = 0, version: int = 1) -> tuple[int, int]:
        return loaded.make(0, fixed, spread, faults_after, version), context_bytes

    return make


@pytest.mark.parametrize("scenario", ["many-to-one:12", "long-short:4"])
def test_a_core_of_constant_time_is_the_compiled_policy_with_that_latency(library, core, scenario: str) -> None:
    """297 cycles at 330 MHz are 0.9 us, to the last record."""
    until = 12 * MS
    compiled = Simulation(
        scenario,
        policies.compiled(library, INSTALLED),
        seed=4,
        decision_latency_ps=900_000,
        record=True,
    )
    compiled.run(until)
    run = Simulation(
        scenario,
        policies.decider(*core(297), 330, INSTALLED),
        seed=4,
        decision_latency_ps=5,
        record=True,
    )
    run.run(until)
    expected, found = compiled.drain_records(), run.drain_records()
    assert expected["flow"].size > 500
    for name, column in expected.items():
        assert column.tobytes() == found[name].tobytes(), name
    assert run.conservation() == compiled.conservation()
    assert (run._policy.cycles, run._policy.cycles_max) == (297 * found["flow"].size, 297)
    assert run.metrics()["engine_service_mean_us"] == pytest.approx(0.9)


def test_every_decision_takes_its_own_time(core) -> None:
    """50 to 1049 cycles at 100 MHz by the response's timestamp, one after the other on one engine."""
    run = Simulation(
        "many-to-one:1x8",
        policies.decider(*core(50, 1000), 100, INSTALLED),
        seed=1,
        engines=Engines(1),
        record=True,
    )
    run.run(5 * MS)
    records = run.drain_records()
    takes_ps = (50 + records["response_ns"].astype(np.int64) % 1000) * 10_000
    begin, end = records["t_ps"], records["t_ps"] + takes_ps
    assert (begin[1:] >= end[:-1]).all()
    assert (begin[1:] == end[:-1]).mean() > 0.5  # an event waited, and was next at once
    counts = run.window()["engines"]
    assert counts["service_ps"] == takes_ps.sum()
    assert counts["engine_busy_ps"][0] == (np.minimum(end, 5 * MS) - begin).sum()


def test_a_fault_of_the_core_is_its_own_sentence(core) -> None:
    run = Simulation("many-to-one:4", policies.decider(*core(100, faults_after=10), 330, INSTALLED), seed=1)
    with pytest.raises(InputError, match=r"failed .*\d+\.\d+ us: .*0x00000bad"):
        run.run(5 * MS)
    with pytest.raises(InputError, match="core read outside"):
        run.run(6 * MS)  # it is over


def test_a_decision_without_end_is_a_fault(core) -> None:
    run = Simulation("many-to-one:4", policies.decider(*core(2**50), 330, INSTALLED), seed=1)
    with pytest.raises(InputError, match=f"takes {2**50} cycles"):
        run.run(5 * MS)


def test_the_core_must_be_of_this_version_and_size(core) -> None:
    with pytest.raises(InputError, match=r"version 2, .*1 "):
        Simulation("many-to-one:4", policies.decider(*core(100, version=2), 330, INSTALLED), seed=1)
    address, context_bytes = core(100)
    with pytest.raises(InputError, match=f"{context_bytes} bytes, not {context_bytes + 4}"):
        Simulation("many-to-one:4", policies.decider(address, context_bytes + 4, 330, INSTALLED), seed=1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"address": 0}, "0 is no address"),
        ({"address": "x"}, "no address"),
        ({"context_bytes": 2}, "context .*2 bytes .*4"),
        ({"clock_mhz": 0}, "a clock of 0 MHz"),
        ({"clock_mhz": float("nan")}, "clock .*nan MHz"),
        ({"installed": policies.Installed({})}, "got none"),
    ],
)
def test_what_cannot_be_a_core_is_told(change: dict[str, Any], words: str) -> None:
    values: dict[str, Any] = {
        "address": 4096,
        "context_bytes": 12,
        "clock_mhz": 330,
        "installed": INSTALLED,
    }
    with pytest.raises(InputError, match=words):
        policies.decider(**(values | change))


def test_what_owns_the_core_lives_as_long_as_a_simulation_of_it(core) -> None:
    class Owner:
        pass

    owner = Owner()
    gone = weakref.ref(owner)
    run = Simulation("many-to-one:2", policies.decider(*core(100), 330, INSTALLED, keep=owner), seed=1)
    del owner
    run.policy = None  # type: ignore[assignment]
    gc.collect()
    assert gone() is not None
    run.run(MS)
    del run
    gc.collect()
    assert gone() is None

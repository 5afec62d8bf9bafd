"""The seam to the network simulator: what C sees behind the pointer is what the RTL does, call by call."""

import ctypes
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from programs import engine
from target_students import STUDENTS

from codegen.emit import emit
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.output import writing
from emulator import fast
from emulator.decider import rtl_decider
from emulator.fast import FastDecider
from emulator.firmware import Firmware
from emulator.firmware_folder import read_firmware
from emulator.profile import Profile
from emulator.run import emulate
from emulator.vectors import vectors_of

U64, U32P, P = ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint32), ctypes.c_void_p


class Seam(ctypes.Structure):
    """rlcc_decider of decision/include/rlcc_decider.h."""

    _fields_ = [
        ("version", ctypes.c_uint32),
        ("context_bytes", ctypes.c_uint32),
        ("self", P),
        ("decide", ctypes.CFUNCTYPE(U64, P, P, P, P, U32P)),
        ("fault", ctypes.CFUNCTYPE(ctypes.c_char_p, P)),
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("decider")
    with writing(place / "student", "student") as work:
        STUDENTS["rl_cc"].save(work)
    emit(place / "student", place / "firmware", target="generic")
    return place / "firmware"


def decide_all(engine: FastDecider, firmware: Firmware) -> tuple[list[int], list[int], list[bytes]]:
    """Cycles, rates and contexts of all vectors, one call of the C function each."""
    seam = Seam.from_address(engine.address)
    cycles, rates, contexts = [], [], []
    for flow, event, params in zip(*vectors_of(firmware).records.values(), strict=True):
        context, rate = ctypes.create_string_buffer(flow.tobytes(), seam.context_bytes), ctypes.c_uint32()
        cycles.append(seam.decide(seam.self, context, event.tobytes(), params.tobytes(), ctypes.byref(rate)))
        rates.append(rate.value)
        contexts.append(context.raw)
    return cycles, rates, contexts


def test_the_seam_decides_as_the_core_does(folder: Path) -> None:
    firmware = read_firmware(folder)
    report = emulate(folder, profile="ibex-maxperf")
    with fast.decider(folder, "ibex-maxperf") as engine:
        seam = Seam.from_address(engine.address)
        assert (seam.version, seam.context_bytes) == (1, engine.context_bytes) == (1, firmware.context_bytes)
        assert engine.clock_mhz == 330
        assert seam.fault(seam.self) == b""
        cycles, rates, contexts = decide_all(engine, firmware)
    expected, left = vectors_of(firmware).expected, np.frombuffer(b"".join(contexts), firmware.layouts["context"].dtype)
    assert rates == expected["rate_q20"].tolist()
    assert all((left[s.name] == expected[f"context.{s.name}"]).all() for s in firmware.program.state)
    assert report.cycles is not None
    assert (max(cycles), np.mean(cycles)) == (report.cycles.max, pytest.approx(report.cycles.mean, abs=6e-4))


def test_the_seam_finds_the_caches_as_the_core_does(folder: Path) -> None:
    """Contexts come at changing addresses: now the same flow's, now another's."""
    firmware = read_firmware(folder)
    profile = engine("ibex-maxperf", fetch=(512, 32, 2, 60), data=(256, 32, 2, 60))
    where = folder.parent / "engine.toml"
    where.write_text(toml(profile))
    vectors = vectors_of(firmware)
    with fast.decider(folder, profile) as ours, rtl_decider(folder, where) as theirs:
        seams = [Seam.from_address(d.address) for d in (ours, theirs)]
        flows = [[ctypes.create_string_buffer(ours.context_bytes) for _ in range(3)] for _ in seams]
        for n in range(200):
            event, params = (vectors.records[name][n].tobytes() for name in ("event", "params"))
            rate = ctypes.c_uint32()
            answers = []
            for seam, contexts in zip(seams, flows, strict=True):
                context = contexts[n * n % 7 % 3]
                cycles = seam.decide(seam.self, context, event, params, ctypes.byref(rate))
                answers.append((cycles, rate.value, context.raw))
            assert answers[0] == answers[1], n


def toml(profile: Profile) -> str:
    """A profile as the file that it is read from."""
    data = profile.model_dump(exclude_none=True)
    lines = [f"name = {json.dumps(data.pop('name'))}"]
    for table, values in data.items():
        inner = {key: value for key, value in values.items() if not isinstance(value, dict)}
        lines += [f"[{table}]", *(f"{key} = {json.dumps(value)}" for key, value in inner.items())]
        for key, value in values.items():
            if isinstance(value, dict):
                lines += [f"[{table}.{key}]", *(f"{k} = {json.dumps(v)}" for k, v in value.items())]
    return "\n".join(lines) + "\n"


def test_many_engines_decide_at_once(folder: Path) -> None:
    firmware = read_firmware(folder)
    first = fast.decider(folder, "ibex-small")
    engines = [first, *(first.another() for _ in range(3))]
    with ThreadPoolExecutor(max_workers=4) as pool:
        results = list(pool.map(lambda engine: decide_all(engine, firmware), engines))
    assert all(result == results[0] for result in results)


def test_a_decider_that_was_closed_has_no_address(folder: Path) -> None:
    with fast.decider(folder, "ibex-small") as engine:
        pass
    with pytest.raises(InputError, match="closed"):
        _ = engine.address


def spoilt(folder: Path, where: Path, change: Callable[[str], str]) -> Path:
    """A copy of the firmware, its C changed, as if it had been emitted so."""
    with writing(where, "firmware", details=opened(folder, "firmware").details) as work:
        for path in folder.iterdir():
            if path.name != "manifest.json":
                text = path.read_text()
                (work / path.name).write_text(change(text) if path.name == "rlcc_policy.c" else text)
    return where


def test_a_fault_is_a_sentence_and_no_cycles(folder: Path, tmp_path: Path) -> None:
    body = "uint32_t rlcc_decide(rlcc_flow *flow, const rlcc_event *event, const rlcc_params *params)\n{"
    bad = spoilt(folder, tmp_path / "bad", lambda c: c.replace(body, f"{body}\n((uint32_t *)event)[0] = 1U;"))
    with fast.decider(bad, "ibex-small") as engine:
        seam = Seam.from_address(engine.address)
        context = ctypes.create_string_buffer(seam.context_bytes)
        assert seam.decide(seam.self, context, bytes(24), bytes(16), ctypes.byref(ctypes.c_uint32())) == 0
        assert b"store into a const structure" in seam.fault(seam.self)


def test_a_core_without_a_multiplier_decides_as_well(folder: Path) -> None:
    """Its multiplication is linked in, as for the streamed run."""
    firmware = read_firmware(folder)
    with fast.decider(folder, "ibex-small-nomul") as ours, rtl_decider(folder, "ibex-small-nomul") as theirs:
        assert decide_all(ours, firmware) == decide_all(theirs, firmware)

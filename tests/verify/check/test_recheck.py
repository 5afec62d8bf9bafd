"""Certificates of a small emitted firmware: one that holds, and every way of tampering with it."""

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student
from reproducible import examples

from codegen.emit import emit
from decision.artefact.errors import InputError
from decision.artefact.output import writing
from decision.ir.forest import oblivious
from emulator.build import Build
from emulator.core import core_executable
from emulator.core_run import run_on_core
from emulator.elf import Image, LoadedSection
from emulator.firmware_folder import built as build_folder
from emulator.profile import load_profile
from emulator.vectors import vectors_of
from verify.check import solver
from verify.check.judge import Judge
from verify.check.on_core import calibrated_again
from verify.check.path_facts import Oracle
from verify.check.recheck import rebuilt, recheck
from verify.check.refused import Refused
from verify.prover.output import write_certificate
from verify.trusted.calibrate import calibrate
from verify.trusted.certificate import ASSUMPTIONS, FORMAT, Certificate, content_hash, read_certificate, subject_of
from verify.trusted.costs import cycle_model
from verify.trusted.execute import ExecutionFault, Simulator
from verify.trusted.machine import IllegalInstruction

TREES = (
    oblivious(((0, 4376), (0, -7420)), (-1949, 896, 1879, 2476)),
    oblivious(((0, 8855),), (-700, 431)),
)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Two trees over the previous action, compiled for the small core."""
    folder = tmp_path_factory.mktemp("small")
    with writing(folder / "student", "student") as work:
        make_student([FEATURES["previous_action"]], ACTIONS[0], TREES).save(work)
    emit(folder / "student", folder / "firmware", target="generic", seed=0)
    return build_folder(folder / "firmware", profile=load_profile("ibex-small"), compiler="clang", opt="-O2")


@pytest.fixture(scope="session")
def content(built: Build) -> dict[str, Any]:
    """A certificate's content, made without the prover: the checker's own figures and the slowest vector."""
    judge = judge_of(built)
    bound, vectors = judge.bound(), vectors_of(built.firmware)
    records = [(block, vectors.records[block.name]) for block in built.blocks]
    run = run_on_core(built.image, "rlcc_decide", built.engine, records)
    slowest = int(np.argmax(run.cycles))
    assert run.cycles[slowest] == bound
    return {
        "format": FORMAT,
        "subject": subject_of(built).model_dump(),
        "engine": {
            "profile": built.engine.meaning(),
            "core": "pythondata-cpu-ibex 0.0.post2937",
            "model": "exact",
            "calibration": calibrate(built.engine, core_executable(built.engine.core), programs=2, calls=2).to_json(),
        },
        "claims": {
            "equality": True,
            "safety": True,
            "stack_bytes": judge.deepest,
            "worst_case": {
                "bound": bound,
                "exact": bound,
                "witness": vectors.inputs(slowest),
                "outputs": {name: int(column[slowest]) for name, column in vectors.expected.items()},
                "rtl_cycles": bound,
            },
        },
        "assumptions": list(ASSUMPTIONS),
        "tools": {},
        "cells": judge.walked,
        "cuts": [],
        "queries": [],
    }


def judge_of(built: Build, image: Image | None = None) -> Judge:
    engine, image = built.engine, image or built.image
    entry, layouts = image.symbols["rlcc_decide"], built.firmware.layouts
    model = cycle_model(engine)
    return Judge(image, entry, built.program, layouts, (), model, engine.limits.stack_bytes, Oracle("bitwuzla"))


def certificate(content: dict[str, Any]) -> Certificate:
    """Sealed again after whatever was done to it."""
    return Certificate.model_validate({**content, "hash": content_hash(content)})


def test_a_true_certificate_holds(built: Build, content: dict[str, Any]) -> None:
    found = recheck(certificate(content), built)
    worst = content["claims"]["worst_case"]
    assert (found.bound, found.exact, found.stack_bytes) == (worst["exact"], True, content["claims"]["stack_bytes"])


def test_it_is_written_read_and_rebuilt_the_same(built: Build, content: dict[str, Any], tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_certificate(certificate(content), tmp_path / name / "certificate.json", ["(check-sat)"])
    first, second = ([p.read_bytes() for p in sorted((tmp_path / name).iterdir())] for name in ("a", "b"))
    assert first == second
    again = read_certificate(tmp_path / "a" / "certificate.json")
    assert again == certificate(content)
    assert subject_of(rebuilt(again, built.firmware.folder)) == subject_of(built)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all plain values in a document."""
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path


def other(value: Any) -> Any:
    return not value if isinstance(value, bool) else value + 1 if isinstance(value, (int, float)) else f"{value}0"


def put(content: dict[str, Any], path: tuple[Any, ...], change: Callable[[Any], Any]) -> dict[str, Any]:
    edited: Any = copy.deepcopy(content)
    at = edited
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = change(at[path[-1]])
    return edited  # type: ignore[no-any-return]


def test_any_edit_is_seen_by_the_hash(content: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    write_certificate(certificate(content), path, [])
    text = path.read_text()
    for old, new in (("true", "false"), ('"image": "', '"image": "0'), ('"bound": ', '"bound": 1')):
        assert old in text
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(InputError):
            read_certificate(path)
    path.write_text(text.replace('"format": 3', '"format": 2'))
    with pytest.raises(InputError, match=r"certificate .*format 3"):
        read_certificate(path)


# What may differ without making the certificate untrue: names of tools, and how much was tried.
FREE = {
    ("cells",),
    *(("engine", "calibration", k) for k in ("programs", "calls", "instructions", "seed", "profile", "model")),
}
FREE |= {("engine", "profile", "clock", "reason")}


def test_a_sealed_lie_is_refused_wherever_it_stands(built: Build, content: dict[str, Any]) -> None:
    """Every value of the certificate in turn, with a hash that fits."""
    tried = 0
    for path in leaves(content):
        if path in FREE or path[0] == "tools":
            continue
        edited = put(content, path, other)
        tried += 1
        try:
            lie = certificate(edited)
            recheck(
                lie,
                rebuilt(lie, built.firmware.folder) if path[:2] == ("engine", "profile") else built,
                solver="bitwuzla",
            )
        except (Refused, InputError, ValueError, ExecutionFault):
            continue
        slack = {"bound", "stack_bytes"}  # a greater bound is a weaker claim, and true
        assert path[-1] in slack or path[:3] == ("claims", "worst_case", "witness"), path
    assert tried > 60


LIES: dict[str, tuple[tuple[Any, ...], Callable[[Any], Any], str]] = {
    "fewer cycles": (("claims", "worst_case", "exact"), lambda v: v - 1, "the witness takes"),
    "less of the RTL": (("claims", "worst_case", "rtl_cycles"), lambda v: v - 1, "the witness takes"),
    "another result": (("claims", "worst_case", "outputs", "rate_q20"), lambda v: v + 1, "does not compute"),
    "another image": (("subject", "image"), lambda v: v[::-1], "for another image"),
    "another program": (("subject", "files", "program"), lambda v: v[::-1], "for another program"),
    "another source": (("subject", "files", "source"), lambda v: v[::-1], "for another source"),
    "another compiler": (("subject", "compiler_version"), lambda v: "clang 1", "for another compiler_version"),
    "another core": (("engine", "core"), lambda v: "ibex 0", "for the core ibex 0"),
    "another calibration": (("engine", "calibration", "profile_hash"), lambda v: "0", "of another engine"),
    "a failed calibration": (("engine", "calibration", "above"), lambda v: 1, "found a difference"),
    "an inexact calibration": (("engine", "calibration", "below"), lambda v: 1, "found a difference"),
    "another entry": (("subject", "entry"), lambda v: "main", "for another entry"),
    "another firmware": (("subject", "firmware"), lambda v: v[::-1], "for another firmware"),
    "another tool": (("subject", "compiler"), lambda v: "gcc", "for another compiler"),
    "another level": (("subject", "flags"), lambda v: [*v[:-1], "-O1"], "for another flags"),
    "another header": (("subject", "files", "header"), lambda v: v[::-1], "for another header"),
    "another student": (("subject", "files", "student"), lambda v: v[::-1], "for another student"),
    "a file more": (("subject", "files"), lambda v: {**v, "more": "0"}, "for another files"),
    "a file less": (("subject", "files"), lambda v: {k: v[k] for k in v if k != "source"}, "for another source"),
    "a bound below the witness": (
        ("claims", "worst_case"),
        lambda v: {**v, "exact": None, "bound": v["bound"] - 1},
        "by the cost model",
    ),
    "an exact figure above the bound": (("claims", "worst_case", "bound"), lambda v: v - 1, "are exact"),
    "more cycles than there are": (
        ("claims", "worst_case"),
        lambda v: {**v, "exact": v["exact"] + 1, "bound": v["bound"] + 1},
        "are exact",
    ),
    "exact, and other cycles on the core": (("claims", "worst_case", "rtl_cycles"), lambda v: v + 1, "are exact"),
    "a bound, and fewer cycles on the core": (
        ("claims", "worst_case"),
        lambda v: {**v, "exact": None, "rtl_cycles": v["rtl_cycles"] - 1},
        "by the cost model",
    ),
    "a bound, and more cycles on the core": (
        ("claims", "worst_case"),
        lambda v: {**v, "exact": None, "rtl_cycles": v["rtl_cycles"] + 1},
        "by the cost model",
    ),
    "less stack": (("claims", "stack_bytes"), lambda v: v - 1, "bytes of stack are used"),
    "a field of the witness less": (
        ("claims", "worst_case", "witness"),
        lambda v: {k: v[k] for k in v if k != "event.cnp_count"},
        "does not have the fields",
    ),
    "a field of the witness more": (
        ("claims", "worst_case", "witness"),
        lambda v: {**v, "event.more": 0},
        "does not have the fields",
    ),
    "a witness beyond its field": (
        ("claims", "worst_case", "witness", "event.cnp_count"),
        lambda v: 1 << 40,
        r"event\.cnp_count holds uint32",
    ),
    "a cut that no path comes to": (
        ("cuts",),
        lambda _: [{"pc": 4, "holds": {}, "bounds": {}}],
        "no path comes to the cut",
    ),
    "a place that is none": (
        ("cuts",),
        lambda _: [{"pc": 0, "holds": {"x99": "7"}, "bounds": {}}],
        "no place|no path comes",
    ),
    "another model": (("engine", "model"), lambda v: "bounded", "of another engine"),
    "a calibration of another core": (("engine", "calibration", "core"), lambda v: "ibex 0", "for the core"),
    "a calibration with wrong results": (("engine", "calibration", "wrong"), lambda v: 1, "found a difference"),
    "fewer assumptions": (("assumptions",), lambda v: v[1:], "other assumptions"),
}


@pytest.mark.parametrize("what", LIES)
def test_a_lie_is_refused_by_its_name(built: Build, content: dict[str, Any], what: str) -> None:
    path, change, why = LIES[what]
    with pytest.raises(Refused, match=why):
        recheck(certificate(put(content, path, change)), built)


@pytest.mark.parametrize("by", [-1, 1])
def test_the_witness_is_measured_on_the_core_again(
    built: Build, content: dict[str, Any], by: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the cost model is only a bound, nothing else would look at these cycles."""
    core = core_executable(built.engine.core)
    calibration = calibrate(built.engine, core_executable(built.engine.core), programs=2, calls=2)
    monkeypatch.setattr("verify.check.on_core.calibrate", lambda *_, **__: calibration)
    calibrated_again(certificate(content), built, core)
    lie = put(content, ("claims", "worst_case", "rtl_cycles"), lambda v: v + by)
    with pytest.raises(Refused, match="witness on the"):
        calibrated_again(certificate(lie), built, core)
    lie = put(content, ("engine", "calibration", "calls"), lambda v: v + 1)
    with pytest.raises(Refused, match="cost model measured"):
        calibrated_again(certificate(lie), built, core)


MALFORMED: dict[str, tuple[tuple[Any, ...], Callable[[Any], Any]]] = {
    "no flags": (("subject", "flags"), lambda _: []),
    "a bound of three": (("cuts",), lambda _: [{"pc": 0, "holds": {}, "bounds": {"event.response_ns": [0, 1, 2]}}]),
    "an input beyond its field": (("claims", "worst_case", "witness", "event.cnp_count"), lambda _: 1 << 40),
    "an input below its field": (("claims", "worst_case", "witness", "event.cnp_count"), lambda _: -1),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_a_malformed_certificate_is_refused_in_a_sentence(
    built: Build, content: dict[str, Any], what: str, tmp_path: Path
) -> None:
    data = put(content, *MALFORMED[what])
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps({**data, "hash": content_hash(data)}))
    with pytest.raises((Refused, InputError)):
        recheck(read_certificate(path), built)


def test_a_bound_below_the_truth_is_refused(built: Build, content: dict[str, Any]) -> None:
    """A faster vector as the witness of a smaller bound: consistent, sealed, and wrong."""
    vectors = vectors_of(built.firmware)
    records = [(block, vectors.records[block.name]) for block in built.blocks]
    run = run_on_core(built.image, "rlcc_decide", built.engine, records)
    fastest = int(np.argmin(run.cycles))
    cycles = int(run.cycles[fastest])
    assert cycles < content["claims"]["worst_case"]["bound"]
    outputs = {name: int(column[fastest]) for name, column in vectors.expected.items()}
    worst = {"witness": vectors.inputs(fastest), "outputs": outputs, "rtl_cycles": cycles}
    for exact in (cycles, None):
        lie = put(content, ("claims", "worst_case"), lambda _, e=exact: {"bound": cycles, "exact": e, **worst})  # type: ignore[misc]
        with pytest.raises(Refused, match="takes more"):
            recheck(certificate(lie), built)


def test_no_flipped_bit_of_the_code_is_accepted_and_behaves_otherwise(
    built: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solver, "MILLISECONDS", 1_000)  # what is not answered is refused: five of these flips, later
    rng = np.random.default_rng(5)
    low = built.image.text[0]
    code = next(s for s in built.image.sections if s.address == low).data
    bound = judge_of(built).bound()
    accepted = 0
    for _ in range(examples(24)):
        at, bit = int(rng.integers(len(code))), int(rng.integers(8))
        flipped = bytes(b ^ (1 << bit) if n == at else b for n, b in enumerate(code))
        sections = tuple(
            LoadedSection(s.name, s.address, flipped) if s.address == low else s for s in built.image.sections
        )
        image = replace(built.image, sections=sections)
        try:
            judge = judge_of(built, image)
            limit = judge.bound()
        except (Refused, IllegalInstruction):
            continue
        accepted += 1
        assert limit <= bound + 40
        agrees(built, image, limit)
    assert accepted < examples(24) / 2


def agrees(built: Build, image: Image, limit: int) -> None:
    """Every vector's result by the simulator, within the cycles."""
    simulator, vectors = Simulator(image, "rlcc_decide", built.engine, built.blocks), vectors_of(built.firmware)
    for n in range(0, len(vectors), 7):
        run = simulator.call([vectors.records[block.name][n].tobytes() for block in built.blocks])
        context = np.frombuffer(run.written["context"], built.firmware.layouts["context"].dtype)
        expected = {name: column[n] for name, column in vectors.expected.items()}
        assert {"rate_q20": run.returned, **{f"context.{f}": context[f][0] for f in context.dtype.names}} == expected
        assert run.clobbered == ()
        assert run.cycles <= limit


@pytest.mark.parametrize("opt", ["-O0", "-Os"])
def test_other_compilations_are_walked_as_well(built: Build, opt: str) -> None:
    compiled = build_folder(built.firmware.folder, profile=built.engine, compiler="clang", opt=opt)
    judge = judge_of(compiled)
    agrees(compiled, compiled.image, judge.bound())
    assert (judge.deepest > 0) == (opt == "-O0")

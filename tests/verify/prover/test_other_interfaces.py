"""A queue's three knobs and a model on its grid: proved, certified, checked; and what is wrong in them refused by both,
the prover and the checker, each by itself."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from other_interfaces import PROGRAMS, emitted, printed
from two_sides import ENGINE, judged, proof_of, walked

from decision.artefact.errors import InputError
from decision.ir.forest import Forest
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.ir.program import Op, ProgramBuilder
from emulator.firmware_folder import built as build_folder
from emulator.layout import Layout
from verify.check.layout import fields_of
from verify.check.recheck import recheck
from verify.check.refused import Refused
from verify.prover.certify import certify
from verify.prover.worst import turns


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_certificate_is_proved_and_holds(name: str, tmp_path: Path) -> None:
    done = certify(build_folder(emitted(PROGRAMS[name], tmp_path / "firmware"), profile=ENGINE))
    assert done.certificate is not None, done.problem
    assert done.witness is not None
    worst, program = done.certificate.claims.worst_case, PROGRAMS[name]
    knobs = [*program.interface.knob_names, *(f"context.{s.name}" for s in program.state)]
    assert list(worst.outputs) == knobs
    assert worst.exact == worst.rtl_cycles == done.witness.cycles
    assert recheck(done.certificate, done.build).exact


QUEUE = printed(PROGRAMS["queue"])[1]
KMIN, KMAX, PMAX = (
    next(line.strip() for line in QUEUE.splitlines() if line.strip().startswith(f"action->{knob.name} = "))
    for knob in QUEUE_MARKING.knobs
)


def value(line: str) -> str:
    return line.partition(" = ")[2].rstrip(";")


WRONG = {  # how the C is changed, and the prover's kind of failure
    "a knob not written": (KMAX, f"(void){value(KMAX)};", "wrong-result"),
    "a knob written on one path only": (KMAX, f"if (event->sent_bytes > 7U) {{ {KMAX} }}", "wrong-result"),
    "two knobs swapped": (KMIN, f"action->kmin_bytes = {value(KMAX)};", "wrong-result"),
    "a knob off by one": (PMAX, PMAX.replace("= ", "= 1U + "), "wrong-result"),
    "a knob off by one at one input": (PMAX, PMAX.replace(";", " + (event->marked_bytes == 77U);"), "wrong-result"),
    "a knob's upper half left out": (KMAX, f"*(uint16_t *)&action->kmax_bytes = (uint16_t){value(KMAX)};", "wrong-"),
    "a store behind the action": (PMAX, f"{PMAX} (&action->pmax_q16)[1] = 0U;", "store-outside"),
    "a store before the action": (PMAX, f"{PMAX} (&action->kmin_bytes)[-1] = 0U;", "store-outside"),
    "a store into the parameters": (PMAX, f"{PMAX} ((rlcc_params *)params)->capacity_bytes = 1U;", "store-outside"),
    "the action read before it is written": (
        KMAX,
        f"if (action->pmax_q16 == 3U) {{ (void)*(volatile uint32_t *)&event->sent_bytes; }} {KMAX}",
        "load-unwritten",
    ),
    "the context not written": ("queue->shift = ", "(void)", "wrong-context"),
}


@pytest.mark.parametrize("why", WRONG)
def test_a_wrong_action_is_refused_by_prover_and_checker(why: str, tmp_path: Path) -> None:
    right, wrong, kind = WRONG[why]
    assert QUEUE.count(right) == 1
    source = QUEUE.replace(right, wrong)
    if why == "two knobs swapped":
        source = source.replace(KMAX, f"action->kmax_bytes = {value(KMIN)};")
    built = build_folder(emitted(PROGRAMS["queue"], tmp_path / "firmware", source), profile=ENGINE)
    failures = proof_of(built).failures
    assert failures
    assert failures[0].kind.startswith((kind, "not-proved") if kind == "wrong-result" else kind), failures
    assert walked(built)
    with pytest.raises(Refused):
        judged(built)


def test_the_right_code_passes_the_same_questions(tmp_path: Path) -> None:
    built = build_folder(emitted(PROGRAMS["queue"], tmp_path / "firmware"), profile=ENGINE)
    assert proof_of(built).proved
    assert walked(built) == []
    assert judged(built) > 40


@pytest.mark.parametrize("name", PROGRAMS)
def test_another_structure_is_refused_by_both(name: str, tmp_path: Path) -> None:
    """Each field wider, narrower, of the other sign, moved, missing; each structure longer, missing, or one more."""
    built = build_folder(emitted(PROGRAMS[name], tmp_path / "firmware"), profile=ENGINE)
    tried = 0
    for layouts in other_layouts(built.firmware.layouts):
        tried += 1
        with pytest.raises(InputError):
            proof_of(built, layouts=layouts)
        with pytest.raises(Refused):
            fields_of(built.program, layouts)
    assert tried > 30 if name != "queue" else tried > 50


def other_layouts(right: dict[str, Layout]) -> list[dict[str, Layout]]:
    found: list[dict[str, Layout]] = [{**right, "more": Layout("more", np.dtype([("a", "<u4")]))}]
    for name, layout in right.items():
        found.append({n: each for n, each in right.items() if n != name})
        fields: Any = layout.dtype.fields
        parts = {n: (kind.str, offset) for n, (kind, offset, *_) in fields.items()}

        def with_parts(changed: dict[str, tuple[str, int]], size: int, name: str = name) -> dict[str, Layout]:
            kinds, offsets = zip(*changed.values(), strict=True)
            spelt: Any = {"names": list(changed), "formats": list(kinds), "offsets": list(offsets), "itemsize": size}
            return {**right, name: Layout(name, np.dtype(spelt))}

        size = layout.dtype.itemsize
        if name != "context":  # the checker lets a context be longer than its fields
            found.append(with_parts(parts, size + 4))
        for field, (kind, offset) in parts.items():
            wider, others = size + 4, [k for k in ("<u4", "<i4", "<u2", "<i2", "|i1", "|u1", "<u8") if k != kind]
            found += [with_parts({**parts, field: (k, offset)}, wider + 8) for k in others]
            if name != "context" or kind != "|i1":  # where a byte of a context lies is the C's own
                found.append(with_parts({**parts, field: (kind, offset + 1)}, wider))
            if name != "context":
                found.append(with_parts({**parts, field: (kind, size)}, wider))
            if len(parts) > 1:
                found.append(with_parts({n: p for n, p in parts.items() if n != field}, size))
    return found


def test_a_program_whose_knob_is_too_small_is_refused_by_the_checker_too() -> None:
    """The builder refuses it first; the checker does not rest on that."""
    b = ProgramBuilder(Forest((), (), (0,), 0), QUEUE_MARKING)
    more = b.add(Op.ADD, (b.event("queue_bytes"), b.event("sent_bytes")))
    program = b.finish(b.const(1), b.const(2), b.const(3))
    with pytest.raises(Refused, match=r"pmax_q16 0\.\.8589934590, .*uint32"):
        fields_of(replace(program, results=(*program.results[:2], more)), {})


def test_the_search_for_the_slowest_input_takes_its_factors_from_the_interface() -> None:
    recip, rate = "params.base_rtt_recip_q42", "context.rate_q30"
    fixed = [{}, *({rate: r, recip: 1 << 29} for r in ((1 << 30) - 1, 1 << 29, 1 << 26))]
    fixed += [{rate: 1 << 29}, {recip: 1 << 29}, {}]
    assert [turn for _, turn in turns(FLOW_RATE)] == fixed
    assert turns(QUEUE_MARKING) == ((0.5, {}), (4.0, {}))

"""False certificates over folders made by hand: code and program differ, and everything else is in order."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from folder_by_hand import ENGINE, forged, write_folder

from codegen.layout import manifest_layouts
from decision.artefact.errors import InputError
from decision.ir.forest import Forest, oblivious
from decision.ir.interface import Interface, Knob, Signal, Uniform
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interfaces.grid import grid
from decision.ir.program import Op, Program, ProgramBuilder
from emulator.build import Build
from emulator.firmware_folder import built as build_folder
from emulator.layout import Layout, read_layouts
from rlcc.commands.verify import command
from verify.check.layout import fields_of
from verify.check.recheck import build_folder as compiled
from verify.check.recheck import recheck
from verify.check.refused import Refused
from verify.prover.certify import on_core
from verify.prover.prove import prove
from verify.trusted.certificate import content_hash, sealed

MOST = 2**31 - 1
STATE = "typedef struct { uint32_t kept; } flow_t;\n"
DECIDE = "uint32_t rlcc_decide(flow_t *flow, const event_t *event, const params_t *params)\n"


def check(folder: Path, content: dict[str, Any]) -> tuple[int, str]:
    """`rlcc verify FOLDER --check` of a certificate of this content, sealed."""
    path = folder.parent / "certificate.json"
    path.write_text(json.dumps({**content, "hash": content_hash(content)}))
    done = CliRunner().invoke(command, [str(folder), "--check", str(path), "--foreign-sources"], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.return_value, done.output


def kept(b: ProgramBuilder, result: int) -> Program:
    """The program with a flow context of one word that stays as it is."""
    b.state_out("kept", b.state_in("kept", "uint32"))
    return b.finish(result)


def differ(built: Build, at: dict[str, int]) -> bool:
    """Whether the core and the program disagree on an input."""
    return not on_core(built, at).equal


def other_interface(storage: str, first: str, second: str) -> Interface:
    """A grid whose signals are called as a flow's are, and are something else: another type, another order."""
    names = [first, second, *(n for n in FLOW_RATE.event_names if n not in (first, second))]
    signals = [Signal(n, "", "", Uniform(0, 9), storage if n == "cnp_count" else "uint32") for n in names]
    return grid(signals, [Knob("rate_q20", "", "", 0, MOST)])


@pytest.mark.parametrize(
    ("storage", "first", "second"),
    [
        ("uint16", *FLOW_RATE.event_names[:2]),
        ("uint32", "response_ns", "request_sent_ns"),
    ],
    ids=["another type", "another order"],
)
def test_a_program_of_another_interface_is_refused(storage: str, first: str, second: str) -> None:
    """Ranges and order of the signals are the interface's, layout and numbering those of a flow's."""
    b = ProgramBuilder(Forest((), (), (0,), 16), other_interface(storage, first, second))
    result = b.event("cnp_count" if storage == "uint16" else "response_ns")
    program = kept(b, b.add(Op.ADD, (b.add(Op.SHR, (result,), 12), b.const(1))) if storage == "uint16" else result)
    layouts = {"context": {"size": 4, "fields": [{"name": "kept", "ctype": "uint32_t", "offset": 0}]}} | {
        name: {
            "size": 4 * len(fields),
            "fields": [{"name": f, "ctype": "uint32_t", "offset": 4 * n} for n, f in enumerate(fields)],
        }
        for name, fields in (("event", FLOW_RATE.event_names), ("params", FLOW_RATE.param_names))
    }
    with pytest.raises(InputError, match="structure 'params'"):
        read_layouts({"layout": layouts}, program, "the manifest")
    del layouts["params"]
    with pytest.raises(InputError, match=r"event\.cnp_count as uint32|byte 4"):
        read_layouts({"layout": layouts}, program, "the manifest")
    read = {
        name: Layout(name, np.dtype([(f["name"], "<u4") for f in structure["fields"]]))
        for name, structure in layouts.items()
    }
    with pytest.raises(Refused, match=r"event\.cnp_count .*<u4 .*, uint16|byte 4"):
        fields_of(program, read)
    with pytest.raises(Refused, match=r"has context, .*event"):
        fields_of(program, {"context": read["context"]})


def test_the_checker_refuses_a_result_beyond_a_word_by_itself() -> None:
    """The builder refuses it first; the checker does not rely on that."""
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    more = b.add(Op.ADD, (b.event("response_ns"), b.event("sent_bytes")))
    program = replace(kept(b, b.const(0)), results=(more,))
    with pytest.raises(Refused, match=r"rate_q20 0\.\.8589934590, .*uint32"):
        fields_of(program, {})


def test_the_prover_says_what_it_cannot_follow(tmp_path: Path) -> None:
    """Right code of a sum beyond a word: not proved, with the reason, and no traceback."""
    program, _ = overflowing()
    source = f"{STATE}{DECIDE}{{ (void)flow; (void)params; return event->response_ns > 1000U; }}"
    b = build_folder(write_folder(tmp_path / "firmware", program, source, [{"event.response_ns": 5}]), profile=ENGINE)
    proof = prove(b.image, program, b.firmware.layouts, ENGINE)
    assert [failure.kind for failure in proof.failures] == ["not-proved"]
    assert "sum of the" in proof.failures[0].text


def test_a_program_with_a_network_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """The checker has no meaning for networks: without the part, the very folder is compiled."""
    program, source = overflowing()
    for number, part in enumerate(({}, {"network": {}})):
        folder = write_folder(tmp_path / f"{number}", program, source, [{}], part=part)
        if part:
            with pytest.raises(Refused, match="network"):
                compiled(folder, profile=ENGINE, compiler="clang", opt="-O2")
        else:
            assert compiled(folder, profile=ENGINE, compiler="clang", opt="-O2").program == program


def overflowing() -> tuple[Program, str]:
    """2^31 - 1 + 2^31 - 1 is above 0; a word of it is not."""
    tree = oblivious(((0, 1000),), (-(2**31), MOST))
    b = ProgramBuilder(Forest(("response",), (tree,), (MOST,), 16), FLOW_RATE)
    trees = b.add(Op.TREES, (b.event("response_ns"),))
    source = f"""{STATE}{DECIDE}{{
    (void)flow; (void)params;
    const uint32_t leaf = (event->response_ns > 1000U) ? 0x7FFFFFFFU : 0x80000000U;
    return (int32_t)(0x7FFFFFFFU + leaf) > 0;
}}"""
    return kept(b, b.add(Op.GT, (trees, b.const(0)))), source


def overflowing_in_the_middle() -> tuple[Program, str]:
    """A partial sum leaves the word and the total as well: leaf + leaf + leaf, each 2^31 - 1 above its threshold."""
    trees = tuple(oblivious(((0, t),), (0, MOST)) for t in (1000, 2000, 3000))
    b = ProgramBuilder(Forest(("response",), trees, (0,), 16), FLOW_RATE)
    total = b.add(Op.TREES, (b.event("response_ns"),))
    source = f"""{STATE}{DECIDE}{{
    (void)flow; (void)params;
    const uint32_t r = event->response_ns;
    const uint32_t a = (r > 1000U) ? 0x7FFFFFFFU : 0U, b = (r > 2000U) ? 0x7FFFFFFFU : 0U;
    return (int32_t)(a + b + ((r > 3000U) ? 0x7FFFFFFFU : 0U)) > 5;
}}"""
    return kept(b, b.add(Op.GT, (total, b.const(5)))), source


def twice() -> tuple[Program, str]:
    """The trees stand twice, over another operand each; the code takes the first for both."""
    tree = oblivious(((0, 1000),), (0, 1))
    b = ProgramBuilder(Forest(("x",), (tree,), (0,), 16), FLOW_RATE)
    first, second = (b.add(Op.TREES, (b.event(name),)) for name in ("response_ns", "sent_bytes"))
    source = f"""{STATE}{DECIDE}{{
    (void)flow; (void)params;
    return (event->response_ns > 1000U) ? 2U : 0U;
}}"""
    return kept(b, b.add(Op.ADD, (first, second))), source


FORGERIES = {
    "a sum of trees beyond a word": (overflowing, {"event.response_ns": 7}, {"event.response_ns": 5000}),
    "partial sums beyond a word": (overflowing_in_the_middle, {"event.response_ns": 7}, {"event.response_ns": 2500}),
    "trees over two features": (twice, {}, {"event.response_ns": 5000}),
}


def indexed(c_type: str) -> tuple[Program, str, dict[str, Any]]:
    """A table of 16 entries, indexed by the upper bits of what is a uint16_t in the program alone."""
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    b.tables = [tuple(n * 77 + (n & 5) * 1000 for n in range(16))]
    field = b.state_in("kept", "uint16")
    b.state_out("kept", field)
    program = b.finish(b.add(Op.TABLE, (b.add(Op.SHR, (field,), 12),), 0))
    layout = manifest_layouts(program)
    size = int(c_type.strip("uint_")) // 8
    layout["context"] = {"size": size, "fields": [{"name": "kept", "ctype": c_type, "offset": 0}]}
    source = f"""typedef struct {{ {c_type} kept; }} flow_t;
static const uint32_t table[16] = {{{", ".join(map(str, b.tables[0]))}}};
{DECIDE}{{
    (void)event; (void)params;
    return table[flow->kept >> 12];
}}"""
    return program, source, layout


def indexing_folder(place: Path, c_type: str) -> tuple[Path, dict[str, Any]]:
    program, source, layout = indexed(c_type)
    folder = write_folder(place / "firmware", program, source, [{"context.kept": 7}], layout)
    return folder, forged(folder, {"context.kept": 7})[1]


@pytest.mark.slow_except("int32_t-<i4", "int16_t-<i2")
@pytest.mark.parametrize(("c_type", "found"), [("uint32_t", "<u4"), ("int32_t", "<i4"), ("int16_t", "<i2")])
def test_a_table_indexed_by_what_the_program_never_saw_is_refused(
    c_type: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The field holds 100,000, the table has 16 entries: a read outside that the program's range would hide.

    The reader of firmware folders refuses it first; the checker does not rest on that."""
    monkeypatch.setattr("emulator.layout.check_layouts", lambda *_: None)
    folder, content = indexing_folder(tmp_path, c_type)
    with pytest.raises(Refused, match=f"context.kept .*{found} .*, uint16 "):
        recheck(sealed(content), build_folder(folder, profile=ENGINE, compiler="clang", opt="-O2"))
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"lays out context\.kept"):
        check(folder, content)


def test_the_same_folder_laid_out_as_the_program_says_holds(tmp_path: Path) -> None:
    code, output = check(*indexing_folder(tmp_path, "uint16_t"))
    assert code == 0, output


@pytest.mark.parametrize("what", FORGERIES)
def test_code_that_differs_from_its_program_is_refused(what: str, tmp_path: Path) -> None:
    make, agree, disagree = FORGERIES[what]
    program, source = make()
    built, content = forged(write_folder(tmp_path / "firmware", program, source, [agree]), agree)
    assert differ(built, disagree)
    code, output = check(tmp_path / "firmware", content)
    assert code == 1
    assert "returns another value" in " ".join(output.split())

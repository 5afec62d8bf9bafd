"""The page of decisions in logic, and the module around one."""

import json
import sys
from dataclasses import asdict
from typing import ClassVar

import pytest

from bench import rtl
from bench.rtl import NotPlaced, Placed, harness, own_cells, page, read_rows
from codegen.rtl.verilog import ports_of
from decision.ir.forest import Forest
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import ProgramBuilder

CELLS = {"TRELLIS_COMB": 2000, "TRELLIS_FF": 300, "MULT18X18D": 11}


def test_latency_is_of_the_fastest_and_of_the_slowest_seed():
    one = Placed("drawn", "0" * 64, 4, 1900, (80.0, 100.0), CELLS, 70)
    assert one.latency_ns() == (40.0, 50.0)
    text = page([one], "command")
    assert "40.0 to 50.0" in text
    assert "2,000" in text
    assert "1,900" in text


def test_a_module_that_is_not_placed_has_a_row_with_the_reason():
    text = page([Placed("large", "0" * 64, 7, 90000, failure="seed 1: too many cells")], "command")
    assert "| large    |      7 |          - |           - |           - |              90,000 |" in text
    assert "too many cells" in text


def test_rows_are_read_as_they_are_written(tmp_path):
    one = Placed("drawn", "0" * 64, 4, 1900, (80.0, 100.0), CELLS, 70)
    assert read_rows(tmp_path / "rows") == {}
    (tmp_path / "rows").write_text(json.dumps(asdict(one)) + "\n")
    (read,) = read_rows(tmp_path / "rows").values()
    assert asdict(read) | {"mhz": tuple(read.mhz)} == asdict(one)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import sys; sys.exit('ERROR: no room')", "no room"),
        ("import sys; sys.exit(1)", "none given"),
        ("while True: pass", "1 CPU seconds"),
    ],
)
def test_a_tool_that_fails_or_does_not_end_is_named(script, reason, tmp_path, monkeypatch):
    monkeypatch.setattr(rtl, "CPU_SECONDS", 1)
    with pytest.raises(NotPlaced, match=reason):
        rtl._run([sys.executable, "-c", script], tmp_path)


def test_a_module_that_is_not_synthesised_is_one_sentence_and_writes_nothing(tmp_path, monkeypatch, capsys):
    class Folder:
        details: ClassVar = {"prefix": "rlcc"}

        def content(self, name):
            return b""

    def placed(*_):
        raise NotPlaced("no room")

    monkeypatch.setattr(rtl, "opened", lambda *_: Folder())
    monkeypatch.setattr(rtl, "prefix_of", lambda firmware: firmware.details["prefix"])
    monkeypatch.setattr(rtl, "placed", placed)
    monkeypatch.setattr(rtl, "PAGE", tmp_path / "page.md")
    assert rtl.main([str(tmp_path / "rows"), "drawn=folder"]) == 2
    assert "no room" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_carry_cell_is_two_logic_cells_and_a_multiplexer_none():
    counts = {"LUT4": 10, "CCU2C": 3, "PFUMX": 4, "TRELLIS_FF": 5}
    assert own_cells({"modules": {"\\rlcc_policy": {"num_cells_by_type": counts}}}, "rlcc_policy") == 16


def test_every_port_is_fed_and_taken_by_bits_of_its_own():
    b = ProgramBuilder(Forest(("f",), (), (0,), 16), FLOW_RATE)
    b.state_in("rate_q30", "uint32")
    b.state_out("rate_q30", b.event("response_ns"))
    program = b.finish(b.event("response_ns"))
    text = harness(program, "rlcc_policy")
    inputs, outputs = ports_of(program)
    assert f"reg [{sum(port.width for port in inputs) - 1}:0] x" in text
    assert all(f".{port.name}(" in text for port in (*inputs, *outputs))

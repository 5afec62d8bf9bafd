"""The page of decisions in logic, and the module around one."""

from bench.rtl import Placed, harness, own_cells, page
from codegen.rtl.verilog import ports_of
from decision.ir.forest import Forest
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import ProgramBuilder


def test_latency_is_of_the_fastest_and_of_the_slowest_seed():
    one = Placed(4, (80.0, 100.0), {"TRELLIS_COMB": 2000, "TRELLIS_FF": 300, "MULT18X18D": 11}, 1900)
    assert one.latency_ns() == (40.0, 50.0)
    text = page({"drawn": one}, "command")
    assert "40.0 to 50.0" in text
    assert "2,000" in text
    assert "1,900" in text


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

"""The properties hold of the emitted wrapper, and each mutant breaks one."""

import pytest

from codegen.rtl.emit import FOLDER
from decision.ir.program_json import program_from_json
from verify.rtl.netlist import Refuted, read
from verify.rtl.wrapper import prove_wrapper

MUTANTS = {
    "inputs_swapped": [("10'h040: event", "10'h0ff: event"), ("10'h041: event", "10'h040: event")],
    "pins_swapped": [
        (".event_request_sent_ns(event_request_sent_ns)", ".event_request_sent_ns(event_response_ns)"),
        (".event_response_ns(event_response_ns)", ".event_response_ns(event_request_sent_ns)"),
    ],
    "outputs_swapped": [("rate_q20 <= new_", "rate_q20 <= new_next_rate_q20 & new_")],
    "write_under_a_decision": [("if (busy || !whole) s_axi_bresp", "if (!whole) s_axi_bresp")],
    "start_under_a_decision": [("whole && !busy && s_axi_awaddr", "whole && s_axi_awaddr")],
    "start_by_a_write_of_zero": [("10'h000 && s_axi_wdata[0];", "10'h000;")],
    "partial_write": [("wire whole = s_axi_wstrb == 4'b1111;", "wire whole = s_axi_wstrb[0];")],
    "offered_twice": [("if (offered && in_ready) offered <= 1'b0;", "if (out_valid) offered <= 1'b0;")],
    "never_idle": [("        busy <= 1'b0;\n        decisions", "        decisions")],
    "idle_too_early": [("if (offered && in_ready) offered <= 1'b0;", "if (offered && in_ready) begin offered <= 1'b0; "
                        "busy <= 1'b0; end")],
    "counted_by_start": [("decisions <= decisions + 32'd1;", ""), ("        busy <= 1'b1;", "        busy <= 1'b1; "
                          "decisions <= decisions + 32'd1;")],
    "response_overwritten": [("s_axi_wvalid && !s_axi_bvalid;", "s_axi_wvalid;")],
    "response_lost": [("if (s_axi_bvalid && s_axi_bready) s_axi_bvalid", "if (s_axi_bvalid) s_axi_bvalid")],
    "data_without_address": [("assign s_axi_wready = write;", "assign s_axi_wready = s_axi_wvalid;")],
    "never_ready": [("wire write = s_axi_awvalid", "wire write = !busy && s_axi_awvalid")],
    "lost_write_reported_okay": [("                default: s_axi_bresp <= SLVERR;\n", "")],
    "status_stuck": [("{31'd0, busy}", "{31'd0, offered}")],
    "read_overtakes": [("s_axi_arvalid && !s_axi_rvalid;", "s_axi_arvalid;")],
    "unknown_register_read_okay": [("                s_axi_rresp <= SLVERR;\n", "")],
    "reset_not_connected": [(".rst(!aresetn)", ".rst(1'b0)")],
    "busy_after_reset": [("        busy <= 1'b0;\n        decisions <= 32'd0;", "        decisions <= 32'd0;")],
    "result_refused": [(".out_ready(1'b1)", ".out_ready(!s_axi_rvalid)")],
    "other_clock": [(".clk(aclk)", ".clk(!aclk)")],
}  # fmt: skip
"""Replacements in the wrapper's text, by name."""


@pytest.fixture(scope="module")
def firmware(emitted_logic):
    """One folder: the wrapper does not depend on the trees."""
    return emitted_logic(1)


@pytest.fixture(scope="module")
def text(firmware):
    return firmware.content(f"{FOLDER}/rlcc_policy.v").decode()


@pytest.fixture(scope="module")
def program(firmware):
    return program_from_json(firmware.json("program.json"))


@pytest.fixture(scope="module")
def wrapper(firmware):
    return firmware.content(f"{FOLDER}/rlcc_axi_lite.v").decode()


def proved(wrapper, module, program):
    netlist = read(f"{module}\n{wrapper}".encode(), "rlcc_axi_lite")
    return prove_wrapper(netlist, "rlcc_policy", program)


def test_the_emitted_wrapper_is_proved(wrapper, text, program):
    found = proved(wrapper, text, program)
    interface = program.interface
    assert found.inputs == len(interface.event) + len(interface.params) + len(program.state)
    assert found.outputs == len(program.outputs)
    assert found.questions > found.inputs + found.outputs


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_of_the_wrapper_is_refuted(name, wrapper, text, program):
    changed = wrapper
    for old, new in MUTANTS[name]:
        assert old in changed, f"the mutant has no place for {old}"
        changed = changed.replace(old, new, 1)
    with pytest.raises(Refuted):
        proved(changed, text, program)

"""A cycle of a circuit as Yosys reads it, next to the same operators in Python, with known and unknown words."""

import json
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from verify.core_timing.clock_cycle import ClockCycle
from verify.core_timing.logic_bits import LogicBits, known, numbered, value
from verify.rtl.netlist import Netlist, NetlistCell, Refuted, netlist_of, yosys
from verify.terms.bits import BitTerms

VERILOG = """
module top(input clk, input [4:0] a, input [4:0] b, input [1:0] s, output [4:0] y_mux, output [9:0] y_mul,
  output [4:0] y_add, output [4:0] y_sub, output [4:0] y_shl, output [4:0] y_shr, output signed [4:0] y_sar,
  output y_lt, output y_slt, output y_ge, output y_eq, output y_and, output y_or, output y_any, output y_all,
  output [4:0] y_xor, output [4:0] y_case, output [3:0] y_spread, output [4:0] y_bit, output y_ne, output y_gt,
  output [4:0] y_wide, output reg [4:0] q);
  assign y_mux = s[0] ? a : b;
  assign y_mul = a * b;
  assign y_add = a + b;
  assign y_sub = a - b;
  assign y_shl = a << b;
  assign y_shr = a >> b;
  assign y_sar = $signed(a) >>> b;
  assign y_lt = a < b;
  assign y_slt = $signed(a) < $signed(b);
  assign y_ge = a >= b;
  assign y_eq = a == b;
  assign y_and = a && b;
  assign y_or = a || !b;
  assign y_any = |a;
  assign y_all = &a;
  assign y_xor = (a ^ ~b) & (a | 5'd9);
  reg [4:0] chosen;
  always @* case (s) 2'd0: chosen = a; 2'd1: chosen = b; 2'd2: chosen = 5'd7; default: chosen = ~a; endcase
  assign y_case = chosen;
  assign y_spread = 4'd1 << s;
  wire signed [2:0] narrow = $signed(a[2:0]);
  assign y_wide = narrow >> b;
  assign y_ne = a != b;
  assign y_gt = a > b;
  assign y_bit = {a, b} >> (s * 2);
  always @(posedge clk) q <= s[1] ? q : a;
endmodule
"""


def expected(a, b, s, q):
    wrap = 31
    signed = [number - 32 if number > 15 else number for number in (a, b)]
    return {
        "y_mux": a if s & 1 else b,
        "y_mul": a * b,
        "y_add": a + b & wrap,
        "y_sub": a - b & wrap,
        "y_shl": a << b & wrap,
        "y_shr": a >> b,
        "y_sar": signed[0] >> b & wrap,
        "y_lt": int(a < b),
        "y_slt": int(signed[0] < signed[1]),
        "y_ge": int(a >= b),
        "y_eq": int(a == b),
        "y_and": int(bool(a and b)),
        "y_or": int(bool(a or not b)),
        "y_any": int(a != 0),
        "y_all": int(a == 31),
        "y_xor": (a ^ ~b & wrap) & (a | 9),
        "y_case": [a, b, 7, ~a & wrap][s],
        "y_spread": 1 << s,
        "y_bit": (a << 5 | b) >> 2 * s & wrap,
        "y_ne": int(a != b),
        "y_gt": int(a > b),
        "y_wide": ((a & 7) - 8 * (a >> 2 & 1) & wrap) >> b,
        "q": q if s & 2 else a,
    }


@pytest.fixture(scope="module")
def netlist(tmp_path_factory):
    place = tmp_path_factory.mktemp("circuit")
    (place / "top.v").write_text(VERILOG)
    script = "read_verilog top.v; proc -norom; opt_clean; write_json top.json"
    subprocess.run([*yosys(), "-q", "-p", script], cwd=place, check=True)
    return netlist_of(json.loads((place / "top.json").read_text()), "top")


def cycle_of(netlist, words):
    """Returns a cycle with these words at the ports and in the register."""
    logic = LogicBits(BitTerms())
    inputs = {
        net: bit for name, word in words.items() if name != "q" for net, bit in _pairs(netlist, name, word(logic))
    }
    (register,) = netlist.registers
    return logic, ClockCycle(logic, netlist, {register.name: words["q"](logic)}, inputs)


def _pairs(netlist, name, word):
    return zip(netlist.ports[name][1], word, strict=True)


NUMBERS = st.tuples(st.integers(0, 31), st.integers(0, 31), st.integers(0, 3), st.integers(0, 31))


@settings(max_examples=examples(60), deadline=None)
@given(NUMBERS)
def test_known_words_give_known_words(netlist, numbers):
    a, b, s, q = numbers
    words = {"clk": (0, 1), "a": (a, 5), "b": (b, 5), "s": (s, 2), "q": (q, 5)}
    _, cycle = cycle_of(netlist, {name: (lambda _, each=each: numbered(*each)) for name, each in words.items()})
    due = expected(a, b, s, q)
    after = next(iter(cycle.after().values()))
    for name, number in due.items():
        word = after if name == "q" else cycle.net(name)
        bits = known(list(word))
        if bits is not None:
            assert value(bits) == number, name
        else:
            assert name in ("y_slt", "y_shl", "y_shr", "y_sar", "y_spread", "y_bit", "y_wide"), name


@settings(max_examples=examples(20), deadline=None)
@given(NUMBERS)
def test_unknown_words_have_the_same_values(netlist, numbers):
    a, b, s, q = numbers
    unknown = {"clk": (0, 1), "a": ("a", 5), "b": ("b", 5), "s": ("s", 2), "q": ("q", 5)}
    words = {}
    for name, (of, width) in unknown.items():
        words[name] = (lambda logic, of=of, width=width: logic.unknown(of, width)) if of else (lambda _: [0])
    logic, cycle = cycle_of(netlist, words)
    (register,) = netlist.registers
    here = {"a": (a, 5), "b": (b, 5), "s": (s, 2)}
    given_words = [(cycle.word(netlist.ports[name][1]), numbered(*each)) for name, each in here.items()]
    given_words.append((list(cycle.registers[register.name]), numbered(q, 5)))
    given_terms = [logic.holds(logic.equal(zip(word, bits, strict=True))) for word, bits in given_words]
    after = next(iter(cycle.after().values()))
    for name, number in expected(a, b, s, q).items():
        word = list(after) if name == "q" else cycle.net(name)
        assert logic.terms.value(given_terms, logic.joined(word), name) == number, name


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 255), st.integers(0, 3))
def test_a_word_is_selected_and_spread(a, s):
    """Cells that Yosys makes of SystemVerilog only."""
    nets = {
        name: list(range(first, first + width))
        for name, first, width in (("a", 0, 8), ("s", 8, 2), ("y", 10, 2), ("z", 20, 8))
    }
    cells = [
        NetlistCell("mux", "$bmux", {}, {"A": nets["a"], "S": nets["s"], "Y": nets["y"]}),
        NetlistCell("demux", "$demux", {}, {"A": nets["a"][:2], "S": nets["s"], "Y": nets["z"]}),
    ]
    circuit = Netlist({"a": ("input", nets["a"]), "s": ("input", nets["s"])}, nets, cells)
    for unknown in (False, True):
        logic = LogicBits(BitTerms())
        words = {name: logic.unknown(name, len(nets[name])) if unknown else None for name in ("a", "s")}
        due = {"a": numbered(a, 8), "s": numbered(s, 2)}
        inputs = {net: bit for name in due for net, bit in zip(nets[name], words[name] or due[name], strict=True)}
        cycle = ClockCycle(logic, circuit, {}, inputs)
        here = [logic.holds(logic.equal(zip(words[name], due[name], strict=True))) for name in due if words[name]]
        for name, number in (("y", a >> 2 * s & 3), ("z", (a & 3) << 2 * s)):
            assert logic.terms.value(here, logic.joined(cycle.net(name)), name) == number


def test_an_unknown_cell_and_a_net_without_a_driver_are_refused(netlist):
    logic, cycle = cycle_of(netlist, {name: (lambda logic: logic.unknown("u", 5)) for name in ("q",)})
    with pytest.raises(Refuted, match="driver"):
        cycle.net("y_add")
    assert logic.terms.questions == 0

"""Ibex's cycles from its RTL: those of the model, and others where model, memories or assumptions are others.

Slow: an access that may be split, and all instructions one by one.
"""

from dataclasses import replace

import pytest

from decision.artefact.errors import InputError
from emulator.profile import load_profile
from verify.core_timing import ibex
from verify.core_timing.proof import TIMED, InstructionCycles, TimedInstruction, differences, timing
from verify.rtl.netlist import Refuted
from verify.trusted.costs import cycle_model

FEW = tuple(one for one in TIMED if one.name in ("addi", "lw", "mul", "mulh", "jal", "beq"))
"""An instruction of each kind of timing."""
FIGURES = ("alu", "access", "product", "high_product", "jump", "branch", "branch_taken")


@pytest.fixture(scope="module")
def netlist():
    return ibex.netlist(load_profile("ibex-small").core)


@pytest.fixture(scope="module")
def model():
    return cycle_model(load_profile("ibex-small"))


@pytest.fixture(scope="module")
def found(netlist):
    return timing(netlist, ibex.VIEW, FEW)


def test_each_kind_of_instruction_takes_the_models_cycles(found, model):
    assert found.cycles.keys() == set(FEW)
    assert differences(found, model) == []
    assert 2 <= found.states <= 10


@pytest.mark.slow
def test_all_instructions_take_the_models_cycles(netlist, model):
    every = timing(netlist, ibex.VIEW)
    assert every.cycles.keys() == set(TIMED)
    assert differences(every, model) == []


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("more", [-1, 1])
def test_a_model_with_another_figure_is_refuted(found, model, figure, more):
    other = replace(model, **{figure: getattr(model, figure) + more})
    (sentence,) = differences(found, other)
    assert str(getattr(other, figure)) in sentence


def test_a_slower_memory_takes_longer(netlist, model):
    """The cycles come from the RTL with its memories, not from the model."""
    slow = replace(ibex.VIEW, inputs={**ibex.VIEW.inputs, "data_wait_i": 2})
    load = TimedInstruction("lw")
    assert timing(netlist, slow, [load]).cycles[load] == {model.access + 2}


@pytest.mark.slow
def test_an_access_that_may_be_split_takes_longer_too(netlist, model):
    load = TimedInstruction("lw")
    never = {what: bits for what, bits in ibex.VIEW.never.items() if "access" not in what}
    cycles = timing(netlist, replace(ibex.VIEW, never=never), [load]).cycles[load]
    assert model.access in cycles
    assert max(cycles) > model.access


def test_a_core_with_other_nets_and_one_that_never_begins_are_refused(netlist):
    with pytest.raises(Refuted, match="nowhere"):
        timing(netlist, replace(ibex.VIEW, taken="nowhere"), FEW)
    with pytest.raises(Refuted, match="first instruction"):
        timing(netlist, replace(ibex.VIEW, inputs={**ibex.VIEW.inputs, "instr_wait_i": 2000}), FEW)


def test_a_core_with_another_clock_is_refused(netlist):
    gated = replace(netlist.registers[0], pins={**netlist.registers[0].pins, "CLK": ["0"]})
    cells = [gated if cell is netlist.registers[0] else cell for cell in netlist.cells]
    with pytest.raises(Refuted, match="clock"):
        timing(replace(netlist, cells=cells), ibex.VIEW, FEW)


@pytest.mark.parametrize(("profile", "word"), [("ibex-maxperf", "write-back"), ("connectx6dx-proxy", "wait states")])
def test_an_engine_whose_cycles_depend_on_more_is_refused(profile, word):
    with pytest.raises(InputError, match=word):
        differences(InstructionCycles(), cycle_model(load_profile(profile)))

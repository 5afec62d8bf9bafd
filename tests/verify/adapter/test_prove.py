"""Adapters of the targets' students, proved as emitted; with a place changed, refuted.

Slow: further students and compilers.
"""

from dataclasses import replace
from itertools import product

import pytest
from adapter_mutants import CONNECTX6DX, DOCA_PCC, DOCA_PCC_ONCE, FALCON_RUE, FALCON_RUE_2
from adapter_proofs import COMPILERS, proved, tools
from drawing import ACTIONS, FEATURES, make_student
from target_students import FALCON_STUDENTS, STUDENTS

from codegen.emit import emit
from decision.artefact.errors import InputError
from decision.artefact.output import writing
from decision.ir.forest import oblivious
from emulator.compile import toolchain
from emulator.firmware_folder import read_firmware
from verify.adapter.policy import named_context, policy_of
from verify.adapter.prove import DEVICES, _Case, devices_of, path_of, prove
from verify.code.failures import Refused

DOCA_STUDENTS = [name for name in STUDENTS if name not in ("acks", "delivered")]
TWICE = ("doca-pcc", "connectx6dx")


@pytest.mark.slow_except("clang-counting", "gcc-once", "clang-all-once")
@pytest.mark.parametrize("student", DOCA_STUDENTS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_doca_pcc_adapter_is_proved(compiler, student, firmware):
    proof = proved(firmware(student, "doca-pcc"), compiler=compiler)
    assert (proof.verdict, proof.text) == ("proved", "")
    assert proof.outputs > 140


@pytest.mark.slow_except("clang-counting", "clang-acks", "gcc-once")
@pytest.mark.parametrize("student", STUDENTS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_connectx6dx_adapter_is_proved(compiler, student, firmware):
    proof = proved(firmware(student, "connectx6dx"), compiler=compiler)
    assert (proof.verdict, proof.text) == ("proved", "")
    assert proof.outputs > 80


@pytest.mark.slow_except("clang-carrying", "gcc-options", "clang-all-once", "gcc-losing", "clang-delivered")
@pytest.mark.parametrize("student", FALCON_STUDENTS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_falcon_adapter_is_proved(compiler, student, firmware):
    proof = proved(firmware(student, "falcon-rue"), compiler=compiler)
    assert (proof.verdict, proof.text) == ("proved", "")
    assert proof.entries == ("rlcc_rue_gen1", "rlcc_rue_gen2")
    assert proof.outputs > 100


@pytest.mark.slow
@pytest.mark.parametrize(("student", "target"), [*product(("once", "all-once"), TWICE), ("all-once", "falcon-rue")])
@pytest.mark.parametrize("opt", ["-O0", "-O1", "-O3", "-Os", "-Oz"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_optimisation_level_is_proved(compiler, opt, target, student, firmware):
    proof = proved(firmware(student, target), compiler=compiler, opt=opt)
    assert (proof.verdict, proof.text) == ("proved", "")


CASES = [("counting", "doca-pcc", edit) for edit in DOCA_PCC.values()]
CASES += [("once", "doca-pcc", edit) for edit in DOCA_PCC_ONCE.values()]
CASES += [("counting", "connectx6dx", edit) for edit in CONNECTX6DX.values()]
CASES += [(student, "falcon-rue", edit) for student, edits in FALCON_RUE.items() for edit in edits.values()]
CASES += [("losing", "falcon-rue", edit) for edit in FALCON_RUE_2.values()]
FALCON_NAMES = [*(f"{student} {name}" for student, names in FALCON_RUE.items() for name in names), *FALCON_RUE_2]
NAMES = [
    f"{target} {name}"
    for target, names in (("doca", [*DOCA_PCC, *DOCA_PCC_ONCE]), ("cx6", CONNECTX6DX), ("falcon", FALCON_NAMES))
    for name in names
]


@pytest.mark.parametrize(("student", "target", "edit"), CASES, ids=NAMES)
def test_a_broken_adapter_is_refuted_by_an_input(student, target, edit, firmware):
    proof = proved(firmware(student, target), edit)
    assert proof.verdict == "refuted", proof.text
    assert proof.example or "for every input" in proof.text
    assert ", specified 0x" in proof.text


def test_a_connection_without_its_first_window_is_refuted(firmware):
    edit = "(share < RLCC_FIRST_WINDOW_BYTES) ? share : RLCC_FIRST_WINDOW_BYTES", "share"
    assert proved(firmware("first-window", "falcon-rue"), edit).verdict == "refuted"


@pytest.mark.parametrize("name", ["acked_bytes", "marked_bytes"])
def test_what_was_acknowledged_must_be_added_up(name, firmware):
    edit = f"memory.context.{name} += event.{name}", f"memory.context.{name} = event.{name}"
    assert proved(firmware("acks", "connectx6dx"), edit).verdict == "refuted"


WRONG = {
    "another slot is ours": ("attr->algo_slot != RLCC_SLOT", "attr->algo_slot > 1U"),
    "a word behind the adapter's": ("algo_ctxt->data[1] = memory.words[1];", "algo_ctxt->data[11] = 0U;"),
    "a decision on every event": ("if (type == RLCC_EVENT_RTT) {", "if (type >= RLCC_EVENT_RTT) {"),
    "another port's parameters": ("get_algo_params(ev_attr.port_num", "get_algo_params(ev_attr.ev_subtype"),
    "another slot's counters": ("get_counters(ev_attr.port_num, RLCC_SLOT", "get_counters(ev_attr.port_num, 1U"),
    "one rare event": (
        "rlcc_on_event(&memory.context",
        "if (algo_ctxt->data[3] == 0x12345678U) memory.words[3]++; rlcc_on_event(&memory.context",
    ),
    "a queue that nobody told": ("decided.queue_bytes = 0U", "decided.queue_bytes = decided.cnp_count"),
    "new flows not counted": ("rlcc_count(counted, RLCC_COUNT_NEW_FLOWS, 1U);", ""),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_tests_by_events_may_miss_is_refuted(name, firmware):
    proof = proved(firmware("counting", "doca-pcc"), WRONG[name])
    assert proof.verdict == "refuted", proof.text


UNSAFE = {
    "a word behind the context": ("algo_ctxt->data[1] = memory.words[1];", "algo_ctxt->data[12] = memory.words[1];"),
    "no look at NULL": ("if (counted != NULL) {", "{"),
    "a parameter too many": ("tuned[3]", "tuned[4]"),
    "what nothing has written": ("decided.queue_bytes = 0U;", ""),
    "a function without a model": (
        "results->probe_type_slot = 0U;",
        "results->probe_type_slot = doca_pcc_dev_unknown();",
    ),
    "another event": (
        "rlcc_on_event(&memory.context, event",
        "rlcc_on_event(&memory.context, (doca_pcc_dev_event_t *)results",
    ),
}


@pytest.mark.parametrize("name", UNSAFE)
def test_an_adapter_that_does_what_it_may_not_is_not_proved(name, firmware):
    edits = [UNSAFE[name]]
    if name == "a function without a model":
        edits.append(("static void rlcc_count(", "uint32_t doca_pcc_dev_unknown(void);\nstatic void rlcc_count("))
    proof = proved(firmware("counting", "doca-pcc"), *edits)
    assert proof.verdict == "not proved"
    assert proof.text


def test_a_context_that_is_written_through_a_wrong_function_is_not_proved(firmware):
    edit = (
        "is_response = rlcc_read_event(ctxt, attr, &event);",
        "is_response = rlcc_read_event(ctxt, attr, &event); is_response = rlcc_read_event(ctxt, attr, &event);",
    )
    proof = proved(firmware("counting", "connectx6dx"), edit)
    assert proof.verdict == "refuted"
    assert "events read" in proof.text or "zeroed" in proof.text


POINTER = """    {
        volatile uint64_t where;

        if ((type == RUE_ACK) || (type == RUE_NACK)) {
            where = (uint64_t)event + signals.rtt;
        } else {
            where = (uint64_t)event + signals.rtt_state;
        }
        rue_put(response, RUE1_RESPONSE_RTT_STATE, where);
    }"""


@pytest.mark.parametrize("opt", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_pointer_whose_offset_is_a_step_is_no_number(compiler, opt, firmware):
    """An address differs from device to device."""
    edit = "    rue_put(response, RUE1_RESPONSE_RTT_STATE, orders.rtt_state);", POINTER
    proof = proved(firmware("rl_cc", "falcon-rue"), edit, compiler=compiler, opt=opt)
    assert proof.verdict == "not proved"
    assert "pointer" in proof.text


@pytest.mark.parametrize("target", ["doca-pcc", "connectx6dx", "falcon-rue"])
def test_a_counter_that_no_tree_depends_on_is_not_asked_for(target, tmp_path):
    """The passes take a split out whose sides are equal; then the C reads no such counter, and the adapter has none."""
    student = make_student([FEATURES["rtt_inflation"], FEATURES["nack_ratio"]], ACTIONS[1], (), window=1)
    rtt, nack = (
        next(n for n, name in enumerate(student.forest.features) if name.startswith(k)) for k in ("rtt", "nack")
    )
    tree = oblivious(((rtt, 1000), (nack, 100)), (5, -7, 5, -7))
    with writing(tmp_path / "student", "student") as work:
        make_student([FEATURES["rtt_inflation"], FEATURES["nack_ratio"]], ACTIONS[1], (tree,), window=1).save(work)
    emit(tmp_path / "student", tmp_path / "firmware", target=target)
    made = read_firmware(tmp_path / "firmware")
    assert any(made.program.key(node) == "event.nack_count" for node in made.program.nodes)
    assert proved(made).proved


def test_a_context_of_more_words_than_the_device_has_is_not_proved(firmware):
    policy = policy_of(firmware("rl_cc", "doca-pcc"))
    assert len(named_context(policy, ["rate"], range(policy.flow_words + 2))) == policy.flow_words + 2
    with pytest.raises(Refused):
        named_context(policy, ["rate"], range(policy.flow_words))


def test_the_adapter_of_the_target_is_proved(firmware):
    """Whatever lies in a folder of that device."""
    made = firmware("rl_cc", "connectx6dx")
    (device,) = devices_of(made)
    assert path_of(made, device) == "rlcc_rl_algo.c"
    every = firmware("rl_cc", "all")
    decoy = replace(every.manifest, files={**every.manifest.files, "rlcc_rl_algo.c": ""})
    assert path_of(replace(every, manifest=decoy), device) == "connectx6dx/rlcc_rl_algo.c"


def test_a_target_without_a_specification_has_no_device(firmware):
    assert devices_of(firmware("rl_cc", "generic")) == ()


def test_every_adapter_of_a_folder_of_all_targets_is_proved(firmware):
    made = firmware("rl_cc", "all")
    devices = devices_of(made)
    assert [device.target for device in devices] == [device.target for device in DEVICES]
    for device in devices:
        assert path_of(made, device).startswith(f"{device.target}/")
        assert prove(made, device, tools()).proved


def test_a_profile_of_32_bits_is_said(firmware, wording):
    made = firmware("rl_cc", "doca-pcc")
    with pytest.raises(InputError) as error:
        prove(made, *devices_of(made), toolchain("ibex-small"))
    wording(error.value)


def test_steps_are_shown_and_not_only_seen(firmware, monkeypatch):
    """A time that differs at one moment in 2^32 is no step of the specification, though it is on the samples."""
    edit = "(now - signals->marker) & RUE_TIME;", "(now - signals->marker + (now == 0x12345678U)) & RUE_TIME;"
    proof = proved(firmware("rl_cc", "falcon-rue"), edit)
    assert proof.verdict == "refuted"
    assert proof.example["now"] == 0x12345678
    monkeypatch.setattr(_Case, "_equal", lambda *_: True)
    assert proved(firmware("rl_cc", "falcon-rue"), edit).verdict == "proved"

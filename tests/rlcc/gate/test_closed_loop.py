"""The emitted C and the decision program it comes from decide alike, event by event, in networks that they steer.

Slow: fewer options in each of both networks; the fast suite has none of them, and all together.
"""

import subprocess

import numpy as np
import pytest
from target_students import STUDENTS, with_options

from codegen.emit import emit
from decision.artefact.output import writing
from decision.policy.deciders import load_pupil
from netsim import Simulation
from netsim.network import MS, Network
from netsim.policies import Installed, compiled
from rlcc.policies import by_path

OPTIONS = [(), ("start",), ("in_flight",), ("start", "in_flight"), ("start", "in_flight", "probes")]
OPTIONS += [("device_rate",), ("start", "in_flight", "device_rate")]
OPTIONS += [("target_ratio",), ("start", "in_flight", "device_rate", "target_ratio")]
DURATION_PS = 10 * MS
LIMITER = Network(device_limit=0.01, device_limit_from_ps=4 * MS, device_limit_for_ps=MS)
"""Rates are cut where the policy is told of it, and where it is not."""
UNSAID = ("maker", "output", "action_q16")
"""What only the program says, or says more finely."""


def recorded(path, scenario):
    """Everything that the policy in ``path`` was told and set, in a network of one switch or of many."""
    with by_path(path) as named:
        simulation = Simulation(scenario, named.policy, seed=3, record=True, network=LIMITER)
        simulation.run(DURATION_PS)
        return simulation.drain_records() | {
            "delivered": simulation.delivered(),
            "sent": simulation.window()["sent_packets"],
        }


@pytest.fixture(scope="module", params=OPTIONS, ids=lambda names: "+".join(names) or "plain")
def folders(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("loop")
    with writing(folder / "student", "student") as work:
        with_options(STUDENTS["rl_cc"], *request.param).save(work)
    emit(folder / "student", folder / "firmware", target="generic", seed=0)
    return request.param, folder


@pytest.mark.slow_except("plain-incast:32", "start+in_flight+device_rate+target_ratio-incast:32")
@pytest.mark.parametrize("scenario", ["incast:32", "long-short:9@fat-tree:4:25"])
def test_the_c_and_the_program_leave_the_same_records(folders, scenario):
    options, folder = folders
    program, c = recorded(folder / "student", scenario), recorded(folder / "firmware", scenario)
    assert set(program) == set(c)
    assert ("in_flight_bytes" in c) is ("in_flight" in options)
    assert ("phase" in c) is ("start" in options)
    assert ("device_rate_q20" in c) is ("device_rate" in options)
    assert len(c["flow"]) > 100
    for name in set(c) - set(UNSAID):
        np.testing.assert_array_equal(program[name], c[name], name)
    if "in_flight" in options:
        assert len(np.unique(c["in_flight_bytes"])) > 1


@pytest.mark.slow_except("start+in_flight+device_rate+target_ratio")
def test_a_cap_that_is_one_byte_off_is_seen(folders, tmp_path):
    """The library by hand: rlcc takes no C that it did not write."""
    options, folder = folders
    if "in_flight" not in options:
        return
    source = load_pupil(folder / "firmware")
    text = (folder / "firmware" / "rlcc_policy.c").read_text()
    assert "action->in_flight_bytes = in_flight_bytes;" in text
    text = text.replace("= in_flight_bytes;", "= in_flight_bytes + 1U;")
    (tmp_path / "wrong.c").write_text(f"{text}\nconst uint32_t rlcc_flow_bytes = sizeof(rlcc_flow);\n")
    flags = ("-std=c99", "-O1", "-shared", "-fPIC", "-I", folder / "firmware", "-o", tmp_path / "wrong.so")
    subprocess.run(("cc", *flags, tmp_path / "wrong.c"), check=True)
    wrong = compiled(tmp_path / "wrong.so", Installed.of(source, source.program()))
    simulation = Simulation("incast:32", wrong, seed=3, record=True, network=LIMITER)
    simulation.run(DURATION_PS)
    cap = recorded(folder / "student", "incast:32")["in_flight_bytes"]
    assert int(simulation.drain_records()["in_flight_bytes"][0]) == int(cap[0]) + 1


@pytest.mark.slow_except("once_per_rtt")
@pytest.mark.parametrize("options", [("once_per_rtt",), ("start", "in_flight", "once_per_rtt")], ids="+".join)
def test_both_leave_the_same_answers_undecided_where_contexts_are_shared(options, tmp_path):
    """Late answers are told by a context that stays as it is, of the C by its bytes, of the program by its fields."""
    with writing(tmp_path / "student", "student") as work:
        with_options(STUDENTS["rl_cc"], *options).save(work)
    emit(tmp_path / "student", tmp_path / "firmware", target="generic", seed=0)
    runs = []
    for folder in ("student", "firmware"):
        with by_path(tmp_path / folder) as named:
            network = Network(context_flows=8)
            simulation = Simulation("many-to-one:2x8", named.policy, seed=3, record=True, network=network)
            simulation.run(DURATION_PS)
            runs.append((simulation.late_answers(), simulation.drain_records(), simulation.delivered()))
    (late, program, delivered), (late_in_c, c, delivered_in_c) = runs
    assert 100 < late == late_in_c
    np.testing.assert_array_equal(delivered, delivered_in_c)
    for name in set(c) - set(UNSAID):
        np.testing.assert_array_equal(program[name], c[name], name)

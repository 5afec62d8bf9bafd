"""Hosts under the toy's interface, a decision program that halves what their flows may send: run in the copy of rlcc
that the toy was put into."""

import numpy as np

from decision.ir.forest import Forest
from decision.ir.interfaces import INTERFACES
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, ProgramBuilder
from netsim import Cohort, Engines, Simulation, _core, policies
from netsim.network import MS, US
from rlcc.agents import AgentOptions

HOST_SHARE = INTERFACES["host_share"]
assert _core.sites() == ["flow", "host", "long_flow", "mlfq", "queue"]
assert AgentOptions(interface="host_share", fixed_knobs={"share_q16": 9}, period="50 us").of is HOST_SHARE

b = ProgramBuilder(Forest((), (), (0,), 0), HOST_SHARE)
nothing_sent = b.add(Op.GT, (b.const(1), b.event("sent_packets")))
program = b.finish(b.add(Op.SELECT, (nothing_sent, b.const(1 << 12), b.const(1 << 11))))

hosts = Cohort(policies.program(program, policies.Installed({"line_bytes": 1})), 50 * US, engines=Engines(1))
own = policies.fixed(FLOW_RATE, {"rate_q20": 1 << 16})
alone = Simulation("many-to-one:8", own, seed=1)
alone.run(2 * MS)
run = Simulation("many-to-one:8", own, seed=1, cohorts=[hosts], record=True)
run.run(2 * MS)
records = run.drain_records(1)
assert set(records["host"]) == set(range(run.scenario.hosts))
assert np.array_equal(records["share_q16"], np.where(records["sent_packets"] == 0, 1 << 12, 1 << 11))
assert set(records["flows"]) <= {0, 1}
sent, arrived = int(records["sent_packets"].sum()), int(run.delivered().sum())
assert 0.9 * arrived < sent <= int(run.window()["sent_packets"].sum())
assert np.isin(run.rates(), (1 / 16, 1 / 32)).all()
assert arrived < int(alone.delivered().sum())  # until their own decisions speed the flows up again

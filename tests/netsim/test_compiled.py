"""A compiled policy decides exactly as the same policy written in Python over the array API."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from decision.artefact.errors import InputError
from netsim import ArrayEnv, Network, Simulation, policies
from netsim.network import MS

# Additive increase, multiplicative decrease on the RTT; the flow counts its decisions and remembers its last RTT.
SOURCE = """
#include <stdint.h>
typedef struct { uint32_t rate_q30; uint32_t last_rtt; uint16_t count; } rlcc_flow;
typedef struct { uint32_t request_sent_ns, response_ns, cnp_count, nack_count, sent_bytes, queue_bytes; } rlcc_event;
typedef struct { uint32_t base_rtt_recip_q42, rate_min_q30, rate_max_q30, rate_initial_q30; } rlcc_params;
const uint32_t rlcc_flow_bytes = sizeof(rlcc_flow);
uint32_t rlcc_decide(rlcc_flow *f, const rlcc_event *e, const rlcc_params *p) {
  uint32_t rtt = e->response_ns - e->request_sent_ns, rate = (f->rate_q30 ? f->rate_q30 : p->rate_initial_q30) >> 10;
  if (rtt > 14000 && rtt >= f->last_rtt) rate -= rate >> 4; else rate += 2000 + 10 * (f->count & 7);
  rate -= e->nack_count > 0 ? rate >> 2 : 0;
  if (rate < p->rate_min_q30 >> 10) rate = p->rate_min_q30 >> 10;
  if (rate > p->rate_max_q30 >> 10) rate = p->rate_max_q30 >> 10;
  f->last_rtt = rtt; f->count++; f->rate_q30 = rate << 10;
  return rate;
}
"""
PARAMS = {
    "base_rtt_recip_q42": 2**42 // 8192,
    "rate_min_q30": 1 << 20,
    "rate_max_q30": (1 << 30) - 1,
    "rate_initial_q30": 1 << 29,
}
INSTALLED = policies.Installed(PARAMS)
SCENARIOS = ["many-to-one:8", "all-to-all:3", "long-short:4"]


def build(folder: Path, source: str) -> Path:
    compiler = shutil.which("cc") or shutil.which("g++")
    assert compiler is not None, "the tests need a host C compiler"
    (folder / "policy.c").write_text(source)
    library = folder / "policy.so"
    subprocess.run([compiler, "-xc", "-O2", "-shared", "-fPIC", "-o", library, folder / "policy.c"], check=True)
    return library


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("compiled"), SOURCE)


def in_python(env: ArrayEnv) -> None:
    """SOURCE again."""
    flows = len(env.scenario.flows)
    last, count = np.zeros(flows, np.int64), np.zeros(flows, np.int64)
    while (batch := env.recv()) is not None:
        f = batch.flow
        assert np.unique(f).size == f.size
        last[f[batch.step == 0]] = count[f[batch.step == 0]] = 0
        rtt, rate = batch.rtt_ns.astype(np.int64), batch.rate_q30.astype(np.int64) >> 10
        down = (rtt > 14000) & (rtt >= last[f])
        rate = np.where(down, rate - (rate >> 4), rate + 2000 + 10 * (count[f] & 7))
        rate -= np.where(batch.nack_count > 0, rate >> 2, 0)
        last[f], count[f] = rtt, (count[f] + 1) & 0xFFFF
        rate = np.clip(rate, PARAMS["rate_min_q30"] >> 10, PARAMS["rate_max_q30"] >> 10) << 10
        shuffled = np.random.default_rng(len(batch)).permutation(len(batch))
        env.send(f[shuffled], rate_q30=rate[shuffled])


@pytest.mark.parametrize("latency_ps", [0, 900_000, 30_000_000])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_compiled_and_array_policies_agree_to_the_last_packet(library, scenario: str, latency_ps: int) -> None:
    until = 12 * MS if scenario.startswith("long-short") else 2 * MS
    network = Network(buffer_bytes=60_000)
    run = Simulation(
        scenario, policies.compiled(library, INSTALLED), seed=4, decision_latency_ps=latency_ps, record=True,
        network=network,
    )  # fmt: skip
    run.run(until)
    limits = {name: PARAMS[name] for name in PARAMS if name.startswith("rate")}
    env = ArrayEnv(
        scenario, 4, duration_ps=until, decision_latency_ps=latency_ps, record=True, network=network, **limits
    )
    in_python(env)
    compiled, outside = run.drain_records(), env.drain_records()
    assert compiled["flow"].size > 100
    for name, column in compiled.items():
        if name not in ("action_q16", "output"):  # their roundings of after / before may differ by one
            np.testing.assert_array_equal(column, outside[name], err_msg=name)
    assert np.abs(compiled["action_q16"] - outside["action_q16"]).max() <= 1
    assert run.conservation() == env.conservation()
    for name, value in run.metrics().items():
        np.testing.assert_equal(value, env.metrics()[name], err_msg=name)


def test_a_new_flow_has_a_zeroed_context(library) -> None:
    run = Simulation("long-short:4", policies.compiled(library, INSTALLED), seed=1, record=True)
    run.run(25 * MS)
    records = run.drain_records()
    new = (records["flow"] > 0) & (records["step"] == 0)
    assert new.sum() == 6  # three short flows came twice
    assert (records["rate_q30"][new] == PARAMS["rate_initial_q30"]).all()


def test_what_is_not_a_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        policies.compiled(tmp_path / "none.so", INSTALLED)
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(InputError, match="not a compiled"):
        Simulation("many-to-one:2", policies.compiled(tmp_path / "text.so", INSTALLED), seed=1)
    other = build(tmp_path, "int something_else;")
    with pytest.raises(InputError, match="rlcc_decide"):
        Simulation("many-to-one:2", policies.compiled(other, INSTALLED), seed=1)

"""A small decision as a program and as C written by hand, so that single lines can be made wrong."""

from pathlib import Path

import numpy as np

from decision.ir.forest import Forest, Node, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, Program, ProgramBuilder
from emulator.compile import compile_policy, link_program, toolchain
from emulator.elf import Image, read_image
from emulator.layout import Layout
from emulator.profile import load_profile
from verify.prover.prove import Limits

PROFILE = load_profile("ibex-small")
LIMITS = Limits(cells=1000, lanes=4000, solver_seconds=5.0, worst_seconds=1.0)
"""Of the proof of something so small, or of what must not be proved."""
SOURCE = """
#include <stdint.h>
typedef struct { uint32_t request_sent_ns, response_ns, cnp_count, nack_count, sent_bytes, queue_bytes; } event_t;
typedef struct { uint32_t recip, low, high, initial; } params_t;
typedef struct { uint32_t rate_q30; int16_t action; } flow_t;

static int32_t tree_0(uint32_t rtt, int32_t action)
{
    if (rtt > 5000U) {
        if (action > -7) { return (rtt > 900U) ? -1200 : 300; }
        return (rtt > 900U) ? -9 : -40;
    }
    if (action > -7) { return (rtt > 900U) ? 11 : 70; }
    return (rtt > 900U) ? 0 : 5;
}

static int32_t tree_1(uint32_t rtt, int32_t action)
{
    if (action > 100) { return (rtt > 5000U) ? -900 : 17; }
    return (rtt > 5000U) ? 250 : -3;
}

uint32_t rlcc_decide(flow_t *flow, const event_t *event, const params_t *params)
{
    uint32_t rate = (flow->rate_q30 < 1073741823U) ? flow->rate_q30 : 1073741823U;
    uint32_t rtt = event->response_ns - event->request_sent_ns;
    int32_t action = flow->action;
    int32_t sum = 10;
    sum += tree_0(rtt, action);
    sum += tree_1(rtt, action);
    sum = (sum < 200) ? sum : 200;
    uint32_t rate_new = (uint32_t)(((uint64_t)rate * (uint32_t)(sum + 4096)) >> 12);
    rate_new = (rate_new < params->high) ? rate_new : params->high;
    flow->rate_q30 = rate_new;
    flow->action = (int16_t)sum;
    return (rate_new >> 10) + 1U;
}
"""


def program() -> Program:
    """What SOURCE computes."""
    b = ProgramBuilder(Forest(("rtt", "action"), (_tree_0(), _tree_1()), (10,), 12), FLOW_RATE)
    stored = b.state_in("rate_q30", "uint32")
    rate = b.add(Op.MIN, (stored, b.const((1 << 30) - 1)), name="rate")
    rtt = b.add(Op.WRAP_SUB, (b.event("response_ns"), b.event("request_sent_ns")), 0, "rtt")
    action = b.state_in("action", "int16")
    trees = b.add(Op.TREES, (rtt, action), name="trees")
    decided = b.add(Op.MIN, (trees, b.const(200)), name="decided")
    scaled = b.add(Op.MUL_SHR, (rate, b.add(Op.ADD, (decided, b.const(4096)))), 12, "scaled")
    new = b.add(Op.MIN, (scaled, b.param("rate_max_q30")), name="rate_new")
    b.state_out("rate_q30", new)
    b.state_out("action", decided)
    return b.finish(b.add(Op.ADD, (b.add(Op.SHR, (new,), 10), b.const(1)), name="rate_q20"))


def _tree_0() -> Node:
    values = {}
    for high in (0, 1):
        for above in (0, 1):
            for mid in (0, 1):
                leaf = [[(5, 0), (70, 11)], [(-40, -9), (300, -1200)]][high][above][mid]
                values[high | above << 1 | mid << 2] = leaf
    return oblivious(((0, 5000), (1, -7), (0, 900)), tuple(values[n] for n in range(8)))


def _tree_1() -> Node:
    return oblivious(((1, 100), (0, 5000)), (-3, 17, 250, -900))  # bit 0: action, bit 1: rtt


def layouts() -> dict[str, Layout]:
    def words(name: str, names: tuple[str, ...]) -> Layout:
        return Layout(name, np.dtype([(n, "<u4") for n in names]))

    flow = np.dtype({"names": ["rate_q30", "action"], "formats": ["<u4", "<i2"], "offsets": [0, 4], "itemsize": 8})
    return {
        "context": Layout("context", flow),
        "event": words("event", FLOW_RATE.event_names),
        "params": words("params", FLOW_RATE.param_names),
    }


def linked(source: str, folder: Path, *, compiler: str = "clang", opt: str = "-O2") -> Image:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "policy.c"
    path.write_text(source)
    policy = compile_policy(path, toolchain(PROFILE, compiler, opt), folder=folder)
    return read_image(link_program(policy, "rlcc_decide", PROFILE, folder))

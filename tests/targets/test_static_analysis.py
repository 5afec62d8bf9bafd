"""clang-tidy has nothing to say, and Frama-C's Eva finds no undefined behaviour for any input.

Slow: further students and adapters; each kind of defect is found in the fast suite.
"""

import re
import shutil
from pathlib import Path

import pytest

from codegen.layout import context_layout
from decision.ir.interfaces.flow_rate import FLOW_RATE

CHECKS = "-*,bugprone-*,cert-*,clang-analyzer-*,-bugprone-easily-swappable-parameters"
"""Swappable parameters: a tree's arguments are integers in the order of the features; nobody calls it by hand."""
TIDIED = {"generic": "rlcc_main_loop.c", "doca-pcc": "rlcc_doca_pcc.c", "connectx6dx": "rlcc_rl_algo.c",
          "falcon-rue": "rlcc_falcon_rue.c"}  # fmt: skip
DEVICES = Path(__file__).parent / "devices"
EVA = ("frama-c", "-machdep", "gcc_x86_32", "-eva", "-eva-precision")


@pytest.mark.skipif(shutil.which("clang-tidy") is None, reason="no clang-tidy: apt install clang-tidy")
class TestClangTidy:
    @pytest.mark.slow
    @pytest.mark.parametrize("target", TIDIED)
    def test_adapters_are_clean(self, target, firmware, run):
        assert tidied(firmware("rl_cc", target), run, TIDIED[target]) == ""

    def test_the_policy_is_clean(self, firmware, run):
        assert tidied(firmware("rl_cc", "generic"), run, "rlcc_policy.c") == ""

    @pytest.mark.slow
    def test_branches_and_the_bpf_adapter_are_clean(self, firmware, run):
        """But that it includes a C file, as BPF has no linker of its own."""
        found = tidied(firmware("rl_cc", "linux-bpf"), run, "rlcc_bpf.c")
        assert set(re.findall(r"\[([\w.,-]+)\]$", found, flags=re.MULTILINE)) <= {"bugprone-suspicious-include"}

    def test_a_defect_is_found(self, firmware, run, tmp_path):
        text = (firmware("table", "generic") / "rlcc_policy.c").read_text()
        (tmp_path / "rlcc_policy.c").write_text(
            text.replace("flow->rate_q30;", "flow->rate_q30 / (params ? 0U : 1U);", 1)
        )
        shutil.copy(firmware("table", "generic") / "rlcc_policy.h", tmp_path)
        assert "clang-analyzer-core.DivideZero" in tidied(tmp_path, run, "rlcc_policy.c")


def tidied(folder, run, *sources):
    done = run("clang-tidy", "--quiet", f"--checks={CHECKS}", *sources, "--", "-std=c99", "-I.", cwd=folder)
    return "\n".join(line for line in done.stdout.splitlines() if re.search(r": (warning|error): ", line))


@pytest.mark.skipif(shutil.which("frama-c") is None, reason="no Frama-C: apt install frama-c-base")
class TestEva:
    @pytest.mark.slow_except("rl_cc-generic")
    @pytest.mark.parametrize(
        ("student", "target"),
        [("rl_cc", "generic"), ("counting", "generic"), ("table", "generic"), ("rl_cc", "linux-bpf")],
    )
    def test_no_alarm_for_any_input_and_every_statement_reached(self, student, target, firmware, run, tmp_path):
        folder = copied(firmware(student, target), tmp_path)
        (folder / "eva.c").write_text(driver(student))
        assert eva(folder, run, "eva.c", "rlcc_policy.c") == (0, 100)

    @pytest.mark.slow_except("connectx6dx")
    @pytest.mark.parametrize("target", ["doca-pcc", "connectx6dx"])
    def test_no_alarm_in_an_adapter_for_any_event_context_and_parameters(self, target, firmware, run, tmp_path):
        folder = copied(firmware("rl_cc", target), tmp_path)
        device = {"doca-pcc": "doca.c", "connectx6dx": "engine.c"}[target]
        shutil.copy(DEVICES / device, folder)
        (folder / "eva.c").write_text({"doca-pcc": DOCA_DRIVER, "connectx6dx": ENGINE_DRIVER}[target])
        sources = ("eva.c", device, TIDIED[target], "rlcc_policy.c")
        assert eva(folder, run, *sources, precision=5) == (0, 100)

    @pytest.mark.slow
    def test_no_alarm_in_falcons_adapter_for_any_line_memory_and_parameters_in_range(self, firmware, run, tmp_path):
        folder = copied(firmware("rl_cc", "falcon-rue"), tmp_path)
        (folder / "eva.c").write_text(FALCON_DRIVER)
        alarms, reached = eva(folder, run, "eva.c", "rlcc_falcon_rue.c", "rlcc_policy.c", precision=5)
        assert alarms == 0
        assert reached >= 95  # but what no field of these lines needs: one that ends with a word

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            (r">> 10U", ">> 32U"),
            (r"leaves\[\(?\(?place", r"leaves[1U + (place"),
            (r"= \(int32_t\)flow->action_1;", "= (int32_t)flow->action_1 * 100000;"),
            (
                r"const uint32_t rate_q30 = flow->rate_q30;",
                "uint32_t rate_q30; if (event->cnp_count > 0U) { rate_q30 = flow->rate_q30; }",
            ),
        ],
        ids=["a shift by the width", "beside the table", "an overflow", "not initialised"],
    )
    def test_undefined_behaviour_is_found(self, old, new, firmware, run, tmp_path):
        folder = copied(firmware("rl_cc", "generic"), tmp_path)
        text, times = re.subn(old, new, (folder / "rlcc_policy.c").read_text(), count=1)
        if new.startswith("leaves"):
            text = re.sub(
                r"(leaves\[1U \+ \(place[^\]]*)\]",
                lambda m: m[1] + ")" * (m[1].count("(") - m[1].count(")")) + " + 4096U]",
                text,
            )
        assert times == 1
        (folder / "rlcc_policy.c").write_text(text)
        (folder / "eva.c").write_text(driver("rl_cc"))
        assert eva(folder, run, "eva.c", "rlcc_policy.c")[0] > 0


def copied(folder, into):
    for path in folder.glob("*.[ch]"):
        shutil.copy(path, into)
    return into


def eva(folder, run, *sources, precision=2):
    """Alarms, and the percentage of statements reached; ``precision`` 5 relates an index to its loop's bound."""
    said = run(
        *EVA, precision, f"-cpp-extra-args=-I{folder}", *(folder / source for source in sources), cwd=folder
    ).stdout
    alarms = re.search(r"(\d+) alarms? generated", said)
    reached = re.search(r"statements [^:\n]*: (\d+)%", said)
    assert alarms, said[-2000:]
    assert reached, said[-2000:]
    return int(alarms[1]), int(reached[1])


def driver(student):
    """Calls the decision with every field unknown."""
    from target_students import STUDENTS

    fields, _ = context_layout(STUDENTS[student].program())
    types = sorted({f.ctype for f in fields} | {"uint32_t"})
    unknown = [f"flow.{f.name} = any_{f.ctype};" for f in fields]
    unknown += [f"event.{name} = any_uint32_t;" for name in FLOW_RATE.event_names]
    unknown += [f"params.{name} = any_uint32_t;" for name in FLOW_RATE.param_names]
    return "\n".join(
        [
            '#include "rlcc_policy.h"',
            *(f"static volatile {t} any_{t};" for t in types),
            "int main(void) {",
            "    rlcc_flow flow; rlcc_event event; rlcc_params params;",
            *(f"    {line}" for line in unknown),
            "    (void)rlcc_decide(&flow, &event, &params);",
            "    return 0;",
            "}\n",
        ]
    )


DOCA_DRIVER = """
#include "doca_pcc_shim.h"
struct doca_pcc_dev_event {
    uint32_t type, subtype, port, request_sent_ns, response_ns, sent_32bytes, num_coalesced;
};
extern uint32_t *device_params, *device_counters;
static volatile uint32_t any;
int main(void) {
    struct doca_pcc_dev_event event = {any, any, any, any, any, any, any};
    doca_pcc_dev_algo_ctxt_t context;
    doca_pcc_dev_attr_t attr = {any & 15U, any & 1U, 0U};
    doca_pcc_dev_results_t results;
    uint32_t params[4], counters[4], values[30], disabled, i, n;
    for (i = 0U; i < 12U; i++) { context.data[i] = any; }
    for (i = 0U; i < 4U; i++) { params[i] = any; counters[i] = any; }
    for (i = 0U; i < 30U; i++) { values[i] = any; }
    device_params = any ? params : 0;
    device_counters = any ? counters : 0;
    doca_pcc_dev_user_init(&disabled);
    doca_pcc_dev_user_algo(&context, &event, &attr, &results);
    n = any;
    if (n <= 30U) { (void)doca_pcc_dev_user_set_algo_params(any, any, any, n, values, params); }
    return 0;
}
"""

ENGINE_DRIVER = """
#include "rl_algo_shim.h"
extern rlcc_event engine_event;
extern int32_t engine_is_response;
extern void engine_call(mlnx_cc_algo_ctxt_t *, const uint32_t *, uint32_t *);
static volatile uint32_t any;
int main(void) {
    mlnx_cc_algo_ctxt_t context;
    uint32_t memory[4] = {any, any, any, any}, answer[3], i;
    rlcc_event event = {any, any, any, any, any, any};
    for (i = 0U; i < 30U; i++) { context.data[i] = any; }
    engine_event = event;
    engine_is_response = (any != 0U) ? 1 : 0;
    engine_call(&context, memory, answer);
    return 0;
}
"""

FALCON_DRIVER = """
#include "falcon_rue.h"
static volatile uint64_t any;
static volatile uint32_t any_word;
static uint32_t within(uint32_t low, uint32_t high) {
    const uint32_t value = any_word;
    return (value < low) ? low : ((value > high) ? high : value);
}
int main(void) {
    rue_line event, response;
    rlcc_rue_memory memory;
    rlcc_rue_params params;
    uint32_t i;
    for (i = 0U; i < 8U; i++) { event.word[i] = any; memory.word[i] = any; }
    params.policy.base_rtt_recip_q42 = any_word;
    params.policy.rate_min_q30 = any_word;
    params.policy.rate_max_q30 = any_word;
    params.policy.rate_initial_q30 = any_word;
    params.line_q16 = within(1U, 16777215U);
    params.window_most_q10 = within(1024U, 2097151U);
    params.nic_window = within(1U, 2047U);
    params.gap_most = within(1U, 1048575U);
    params.retransmit_least = within(1U, 16777215U);
    if (any_word != 0U) { rlcc_rue_gen1(&event, &response, &memory, &params, any_word); }
    else { rlcc_rue_gen2(&event, &response, &memory, &params, any_word); }
    (void)rlcc_rue_params_in_range(&params);
    return 0;
}
"""

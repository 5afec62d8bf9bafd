"""The tests of compiled modules that are quick, and need no emulated core: what is run on another kind of machine.

`python tests/aarch64/quick.py` prints them, for a machine that is of that kind (make test-without-core).
"""

_NAMES = (
    *("arrays", "baseline_dcqcn", "baseline_feedback", "baseline_nscc", "baselines", "build", "cohorts"),
    *("compiled_tapes", "content", "demotion", "deployment", "disturbance", "forest_walk"),
    *("in_flight", "long_flows", "lookahead", "max_min", "metrics", "mixes", "native", "network"),
    *("network_file", "parcel", "probes", "queue_policies", "series", "simulation", "site", "splitmix", "start"),
    *("statistics", "tape", "target", "told_paths", "tolerance", "topology", "triggers", "wires", "workloads"),
)
NETSIM = tuple(f"tests/netsim/test_{name}.py" for name in _NAMES)
"""The files that take less than 7 s on x86-64. Left out are those of long runs, and those of processes, hosts (Ray) and
environments, which ask more of Python than of the core."""
FAST = ("tests/emulator/fast/test_faults.py",)
"""Every fault once. The other tests hold the fast path to the RTL, which is not built there."""

if __name__ == "__main__":
    print(*NETSIM, *FAST)

"""Speed of the simulator: data packets a CPU second in whole runs, a native policy deciding.

Each run starts from an empty network and lasts 200 ms of simulated time (flows start, overload the port, settle); the
figure is all data packets that reached a receiver over the CPU time of the whole run, start-up and its drops included.
The settled figure is that of the last 150 ms. To set beside others' figures: docs/netsim.md.

    python bench/simulator.py [flows ..]
"""

import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from netsim import Simulation
from netsim.network import MS
from netsim.policies import NativePolicy, native
from spec.policy import Policy

FLOWS = (64, 1024, 8192)


def policy(architecture: dict[str, Any], window: int) -> Policy:
    congestion = {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5}
    return Policy.model_validate(
        {
            "format": 1,
            "name": "bench",
            "architecture": architecture,
            "observation": {
                "window": window,
                "base_rtt": "8192 ns",
                "line_rate": "100 Gb/s",
                "rtt_max": "4 ms",
                "features": [{"kind": "previous_action"}, congestion],
            },
            "action": {"kind": "tanh_map", "step": 0.2},
            "limits": {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"},
        }
    )


def mlp(gain: float = 0.1) -> NativePolicy:
    """RL-CC's MLP (window of 2, 12 hidden units) with weights that hold the congestion feature at zero."""
    hidden = np.zeros((12, 4), dtype=np.float32)
    hidden[:6, 1], hidden[6:, 1] = 1, -1
    out = np.repeat([-gain / 6, gain / 6], 6)[None].astype(np.float32)
    return native(policy({"kind": "mlp", "hidden": [12], "bias": False}, 2), {"fc0.weight": hidden, "out.weight": out})


def lstm(units: int = 12, gain: float = 0.5) -> NativePolicy:
    """The small LSTM (12/12): its gates stand open, so that it too steers by the congestion feature."""
    fc = np.zeros((12, 2), dtype=np.float32)
    fc[:6, 1], fc[6:, 1] = 1, -1
    w_ih = np.zeros((4 * units, 12), dtype=np.float32)
    w_ih[2 * units : 3 * units] = np.eye(units, 12)
    bias = np.zeros(4 * units, dtype=np.float32)
    bias[:units], bias[units : 2 * units], bias[3 * units :] = 4, -4, 4
    out = np.repeat([-gain / 6, gain / 6], 6)[None].astype(np.float32)
    weights = {
        "fc0.weight": fc,
        "lstm.weight_ih": w_ih,
        "lstm.weight_hh": np.zeros((4 * units, units), dtype=np.float32),
        "lstm.bias_ih": bias,
        "lstm.bias_hh": np.zeros_like(bias),
        "out.weight": out,
    }
    return native(policy({"kind": "lstm", "hidden": [12], "lstm": units, "bias": False}, 1), weights)


def measure(flows: int, teacher: NativePolicy) -> dict[str, float]:
    begin = time.process_time()
    run = Simulation(f"many-to-one:{flows}", teacher, seed=1)
    run.run(50 * MS)
    started, settled = run.metrics()["data_packets"], time.process_time()
    run.reset_window()
    run.run(200 * MS)
    end = time.process_time()
    assert run.conservation()["holds"]
    metrics = run.metrics()
    return {
        "whole": (started + metrics["data_packets"]) / (end - begin) / 1e6,
        "settled": metrics["data_packets"] / (end - settled) / 1e6,
        "decisions": metrics["decisions"] / (end - settled) / 1e6,
        "goodput": metrics["goodput"],
    }


def cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    print(f"{cpu_model()}, Python {platform.python_version()}; millions a CPU second")
    print(f"{'policy':<8}{'flows':>7}{'packets':>10}{'settled':>10}{'decisions':>11}{'goodput':>9}")
    for name, teacher in (("MLP", mlp()), ("LSTM", lstm())):
        for flows in [int(a) for a in sys.argv[1:]] or FLOWS:
            m = measure(flows, teacher)
            figures = f"{m['whole']:>10.2f}{m['settled']:>10.2f}{m['decisions']:>11.2f}{m['goodput']:>9.3f}"
            print(f"{name:<8}{flows:>7}{figures}", flush=True)


if __name__ == "__main__":
    main()

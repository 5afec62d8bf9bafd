"""Stands for your own log: eight flows of a fluid queue under a rule of their own, written as CSV. It knows nothing of
rlcc.

python make_log.py      writes log.csv and held-out.csv
"""

import csv
import io
import math
import random
from pathlib import Path


def log_text(seed: int, flows: int = 8, end_us: float = 15_000.0) -> str:
    """Returns the log as CSV; each flow decides when a response comes back."""
    draw = random.Random(seed)
    rates, earlier = [100.0] * flows, [0.0] * flows
    due = [draw.uniform(0, 10) for _ in range(flows)]
    queue, now, rows = 0.0, 0.0, []
    while now < end_us:
        flow = min(range(flows), key=lambda n: due[n])
        queue = min(max(0.0, queue + (sum(rates) - 100) * (due[flow] - now) * 125), 1e6)
        now = due[flow]
        rtt = 8.192 + queue * 8 / 100e3
        delta = 0.064 - max(rtt / 8.192 - 1.5, 0) * math.sqrt(rates[flow] / 100)
        x = math.tanh(0.4 * delta + 0.2 * (delta - earlier[flow]))
        multiplier = 1 + 0.2 * x if x > 0 else 1 / (1 - 0.2 * x)
        rows.append([f"{now:.3f}", f"10.0.0.{flow}", f"{rtt:.3f}", f"{rates[flow]:.6f}", f"{multiplier:.6f}"])
        earlier[flow] = delta
        rates[flow] = max(0.001, min(100.0, rates[flow] * multiplier))
        due[flow] = now + rtt
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["time_us", "connection", "rtt_us", "rate_gbps", "multiplier"])
    writer.writerows(rows)
    return out.getvalue()


if __name__ == "__main__":
    Path("log.csv").write_text(log_text(seed=1))
    Path("held-out.csv").write_text(log_text(seed=2))

"""What the papers say, as printed. None: the paper has no figure there.

PCC-RL: Tessler et al., "Reinforcement Learning for Datacenter Congestion Control", 2021.
RL-CC: Fuhrer et al., "Implementing Reinforcement Learning Datacenter Congestion Control in NVIDIA NICs", 2022.
"""

ALGORITHMS = ("PCC-RL", "DC2QCN", "HPCC", "Swift")

MANY_TO_ONE = (128, 1024, 4096, 8192)
MANY_TO_ONE_COLUMNS = ("utilisation", "fairness", "queue", "drops")
TABLE_1: dict[str, tuple[tuple[float, ...], ...]] = {
    "PCC-RL": ((92, 95, 8, 0), (90, 70, 15, 0), (91, 44, 26, 0), (92, 29, 42, 0)),
    "DC2QCN": ((96, 84, 8, 0), (88, 82, 17, 0), (85, 67, 110, 0.2), (100, 72, 157, 1.3)),
    "HPCC": ((83, 96, 5, 0), (59, 48, 27, 0), (73, 13, 79, 0.2), (86, 8, 125, 0.9)),
    "Swift": ((98, 99, 40, 0), (91, 98, 66, 0), (90, 56, 120, 0.1), (92, 50, 123, 0.2)),
}
"""PCC-RL, table 1: a row for each of MANY_TO_ONE: utilisation %, fairness %, queue us, drops Gb/s."""

ALL_TO_ALL = (4, 8)
TABLE_2: dict[str, tuple[tuple[float, ...], ...]] = {
    "PCC-RL": ((94, 77, 6), (94, 97, 8)),
    "DC2QCN": ((90, 91, 5), (91, 89, 6)),
    "HPCC": ((71, 18, 3), (69, 60, 3)),
    "Swift": ((76, 100, 11), (76, 98, 13)),
}
"""PCC-RL, table 2: 4 and 8 hosts; utilisation %, fairness %, queue us."""

TARGETS = {"strict": 1, "standard": 2, "loose": 20}
TABLE_3: dict[str, tuple[float, ...]] = {
    "strict": (51, 99, 12, 0),
    "standard": (92, 29, 42, 0),
    "loose": (92, 35, 55, 0),
}
"""PCC-RL, table 3: 8192 to 1, by target; as table 1."""
TABLE_4: dict[str, tuple[tuple[float, ...], ...]] = {
    "strict": ((60, 30, 4), (74, 52, 13)),
    "standard": ((94, 77, 6), (94, 97, 8)),
    "loose": ((73, 18, 8), (71, 21, 9)),
}
"""PCC-RL, table 4: all-to-all by target; as table 2."""

LONG_SHORT = (2, 128, 1024, 2048)
TABLE_5: dict[str, tuple[float | None, ...]] = {
    "strict": (5e-2, 5e-2, None, None),
    "standard": (5e-3, 5e-3, None, None),
    "loose": (6e-7, 8e-4, 3e-2, 3e-2),
}
"""PCC-RL, table 5: recovery, s, at LONG_SHORT flows; None: not within a reasonable time."""

TABLE_8: dict[str, tuple[tuple[float, ...] | None, ...]] = {
    "PCC-RL": ((6e-7, 0, 97), (8e-4, 0, 94), (3e-2, 1.1, 62), (3e-2, 2.7, 56)),
    "DC2QCN": ((3e-2, 0, 63), (5e-2, 0, 40), None, None),
    "HPCC": ((3e-5, 0, 90), (1e-2, 0.4, 75), (2e-2, 1.1, 72), (3e-2, 1.8, 62)),
    "Swift": ((1e-3, 0, 97), (1e-2, 0.3, 85), (1e-2, 1.2, 83), (2e-2, 2.1, 72)),
}
"""PCC-RL, table 8: recovery (printed as us, but only seconds fit figure 3), drops Gb/s, the long flow's bandwidth %."""

QUANTISED = (2, 4, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
TABLE_7: dict[str, tuple[tuple[float, ...], ...]] = {
    "float": (
        (96.9, 96.9, 95.1, 95.6, 93.3, 92.5, 91.4, 90.4, 90.2, 90.5, 91.3, 92.8),
        (0.99, 0.98, 0.99, 0.86, 0.96, 0.94, 0.91, 0.86, 0.74, 0.56, 0.46, 0.28),
        (5.2, 5.4, 6.2, 7.0, 7.0, 8.0, 9.3, 11.3, 14.7, 20.3, 27.7, 40.0),
    ),
    "int8": (
        (99.91, 99.86, 99.61, 99.22, 99.06, 98.57, 98.02, 97.54, 97.10, 96.74, 96.65, 96.79),
        (1.00, 1.00, 0.99, 0.99, 0.98, 0.96, 0.90, 0.86, 0.75, 0.61, 0.43, 0.29),
        (8.29, 8.59, 9.46, 9.90, 9.72, 10.94, 12.85, 16.26, 20.92, 27.67, 36.87, 48.40),
    ),
}
"""PCC-RL, table 7: utilisation %, fairness, queue us; each at QUANTISED flows."""

DISTILLED = (8, 64, 512, 1024, 2048)
RL_CC_TABLE_2: dict[str, tuple[tuple[float, float], ...]] = {
    "MLP": ((0.96, 8.85), (0.92, 12.19), (0.90, 17.82), (0.90, 21.70), (0.90, 27.62)),
    "tree": ((0.97, 8.85), (0.92, 12.03), (0.90, 17.98), (0.90, 21.73), (0.90, 27.35)),
}
"""RL-CC, table 2: goodput, mean latency us; at DISTILLED flows."""

LATENCY_US = {"LSTM": 450.0, "MLP": 17.0, "tree": 0.9}
"""RL-CC, table 1: what a decision takes on ConnectX-6Dx."""

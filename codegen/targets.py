"""Target interfaces: what a device allows a flow, and which adapter files go with the policy."""

from dataclasses import dataclass

from spec.errors import InputError


@dataclass(frozen=True)
class Target:
    """``context_bytes``: what the device keeps a flow. ``adapter_bytes`` of it are the adapter's own."""

    name: str
    context_bytes: int
    templates: tuple[str, ...]
    adapter_sources: tuple[str, ...]
    counts_events: bool
    """Whether the adapter itself counts CNPs, NACKs and sent bytes between decisions, in the flow's context."""
    adapter_bytes: int
    lacks: tuple[str, ...] = ()
    """Raw signals that the device does not give: a policy that looks at one would be blind there."""


TARGETS = {
    "generic": Target("generic", 120, (), (), counts_events=False, adapter_bytes=0),
    "connectx6dx": Target(
        "connectx6dx",
        120,
        ("connectx6dx/rlcc_rl_algo.c.j2", "connectx6dx/rl_algo_shim.h.j2"),
        ("rlcc_rl_algo.c",),
        counts_events=False,
        adapter_bytes=4,
    ),
    "doca-pcc": Target(
        "doca-pcc",
        48,
        ("doca-pcc/rlcc_doca_pcc.c.j2", "doca-pcc/doca_pcc_shim.h.j2"),
        ("rlcc_doca_pcc.c",),
        counts_events=True,
        adapter_bytes=4,
        lacks=("queue_bytes",),
    ),
}
"""Sources: RL-CC section 5 and the published engine interfaces (30 words a flow on ConnectX-6Dx, 12 in DOCA PCC)."""


def target_named(name: str) -> Target:
    if name not in TARGETS:
        raise InputError(f"there is no target {name!r}; choose one of {', '.join(TARGETS)}")
    return TARGETS[name]

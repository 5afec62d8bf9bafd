"""Target interfaces: what a device allows a flow, which adapter files go with the policy, and whether a policy fits.

One core (rlcc_policy.c and .h) serves every target; an adapter is the device's entry point around it.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from codegen.rtl import target as rtl
from decision.artefact.errors import InputError
from decision.artefact.suggest import meant
from decision.ir.interface import Interface

COUNTERS = ("cnp_count", "nack_count", "sent_bytes", "acked_bytes", "marked_bytes")
"""Raw signals that count what happened between two decisions."""

ALL = "all"
"""Not a target but every one that the policy fits."""


@dataclass(frozen=True)
class Target:
    """``context_bytes``: what the device keeps a flow. ``adapter_bytes`` of it are the adapter's own."""

    name: str
    context_bytes: int
    templates: tuple[str, ...]
    adapter_sources: tuple[str, ...]
    """C files that a makefile builds beside rlcc_policy.c."""
    counts: tuple[str, ...]
    """Which of COUNTERS the adapter itself keeps, as far as the policy looks at them, in the flow's context."""
    adapter_bytes: int
    lacks: tuple[str, ...] = ()
    """Raw signals that the device does not give: a policy that looks at one would be blind there."""
    one_count: tuple[str, ...] = ()
    """Raw signals that are one count on the device: a policy that compares them would be blind there."""
    drops: tuple[str, ...] = ()
    """Knobs that the device has no setting for: the adapter drops them, unless its integrator says where they go."""
    owner_bytes: int = 0
    """Bytes more that the adapter keeps of whose a context is, for a policy that decides once a round trip."""
    keeps: tuple[str, ...] = ()
    """Knobs that the adapter keeps in the flow's context, four bytes each, beside its own."""
    most_arguments: int | None = None
    """Arguments that a function may have, where the machine sets a limit."""
    form: str | None = None
    """The one form of the trees that the machine takes (codegen.choose); None: any. The BPF verifier cannot bound the
    index of a table that is the sum of several searches."""
    most_prefix: int | None = None
    """Characters of a prefix that the device takes as the algorithm's name; None: any."""
    serves: str | None = "flow"
    """Site whose events the device hands over; None: any."""
    extra_files: rtl.VerilogFiles | None = None
    """Files that are written next to the C."""
    divides: bool = False
    """Whether the adapter holds the decision for a machine with a divider, to be inlined."""


TARGETS = {
    "generic": Target(
        "generic",
        120,
        ("generic/rlcc_main_loop.c.j2", "generic/README.md.j2"),
        (),
        counts=(),
        adapter_bytes=0,
    ),
    "connectx6dx": Target(
        "connectx6dx",
        120,
        ("connectx6dx/rlcc_rl_algo.c.j2", "connectx6dx/rl_algo_shim.h.j2", "connectx6dx/README.md.j2"),
        ("rlcc_rl_algo.c",),
        counts=COUNTERS,
        adapter_bytes=4,
        drops=("in_flight_bytes",),
    ),
    "doca-pcc": Target(
        "doca-pcc",
        48,
        ("doca-pcc/rlcc_doca_pcc.c.j2", "doca-pcc/doca_pcc_shim.h.j2", "doca-pcc/README.md.j2"),
        ("rlcc_doca_pcc.c",),
        counts=COUNTERS,
        adapter_bytes=4,
        lacks=("queue_bytes", "acked_bytes", "marked_bytes"),
        drops=("in_flight_bytes",),
        owner_bytes=4,
    ),
    "linux-bpf": Target(
        "linux-bpf",
        104,
        ("linux-bpf/rlcc_bpf.c.j2", "linux-bpf/linux_bpf_shim.h.j2", "linux-bpf/README.md.j2"),
        (),
        counts=("nack_count", "sent_bytes", "acked_bytes", "marked_bytes"),
        adapter_bytes=20,
        lacks=("cnp_count", "queue_bytes"),
        keeps=("in_flight_bytes",),
        most_arguments=5,
        form="branches",
        most_prefix=15,
    ),
    "falcon-rue": Target(
        "falcon-rue",
        64,
        ("falcon-rue/rlcc_falcon_rue.c.j2", "falcon-rue/falcon_rue.h.j2", "falcon-rue/README.md.j2"),
        ("rlcc_falcon_rue.c",),
        counts=("nack_count", "sent_bytes", "acked_bytes"),
        adapter_bytes=4,
        lacks=("cnp_count", "queue_bytes", "marked_bytes"),
        one_count=("sent_bytes", "acked_bytes"),
        keeps=("in_flight_bytes",),
    ),
}
"""Sources: [RLCC] section 5 and the published engine interfaces (30 words a flow on ConnectX-6Dx, 12 in DOCA PCC);
Linux's icsk_ca_priv (104 bytes) and the BPF calling convention (five registers); the memory that software of Falcon's
rate update engine has a connection (a cache line, falcon-transport/isekai)."""


BARE = Target("bare", 1 << 16, (), (), counts=(), adapter_bytes=0, serves=None)
"""The C alone, without any device's adapter: of what decides elsewhere than at flows."""

HOST = Target(
    "host",
    1 << 16,
    ("host/rlcc_host.h.j2", "host/README.md.j2"),
    (),
    counts=(),
    adapter_bytes=0,
    serves="flow_window",
    divides=True,
)
"""Host software above any NIC: header-only C99 and C++, which keeps what is in flight."""

SHOWN = (*TARGETS, BARE.name, HOST.name, rtl.SHOWN, ALL)
"""Names of targets, as help shows them."""


def target_named(name: str) -> Target:
    for other in (BARE, HOST):
        if name == other.name:
            return other
    if (files := rtl.files_of(name)) is not None:
        return replace(BARE, name=name, extra_files=files)
    if name not in TARGETS:
        raise InputError(f"there is no target {name!r}; choose one of {', '.join(SHOWN[:-1])}{meant(name, TARGETS)}")
    return TARGETS[name]


def targets_named(name: str) -> tuple[Target, ...]:
    """The target of that name; every target for ``all``."""
    return tuple(TARGETS.values()) if name == ALL else (target_named(name),)


def unserved(target: Target, interface: Interface) -> str | None:
    """Why agents of this interface cannot go on the target, in one sentence; None where they can."""
    if target.serves in (None, interface.site_name):
        return None
    return (
        f"the target {target.name} takes decisions of the site {target.serves}, not {interface.site_name}; give "
        f"--target {BARE.name}, the C without an adapter"
    )


def unnamed(target: Target, prefix: str) -> str | None:
    """Why the target takes no algorithm of this name, in one sentence; None where it does."""
    if target.most_prefix is None or len(prefix) <= target.most_prefix:
        return None
    return f"the target {target.name} takes names of at most {target.most_prefix} characters; give a shorter --prefix"


def counters_kept(target: Target, signals: Set[str]) -> list[str]:
    """COUNTERS that the target's adapter keeps for a policy that looks at ``signals``."""
    return [name for name in target.counts if name in signals]


def adapter_bytes(target: Target, signals: Set[str], knobs: Sequence[str], once_per_rtt: bool = False) -> int:
    """Returns the bytes that the target's adapter stores per flow, for a policy that looks at ``signals`` and sets
    ``knobs``."""
    return (
        target.adapter_bytes
        + target.owner_bytes * once_per_rtt
        + 4 * (len(counters_kept(target, signals)) + sum(name in knobs for name in target.keeps))
    )


def misfit(
    target: Target,
    *,
    signals: Set[str],
    flow_bytes: int,
    arguments: int,
    knobs: Sequence[str] = (),
    once_per_rtt: bool = False,
) -> str | None:
    """Why the policy cannot go on the target, in one sentence; None where it can.

    ``signals``: raw signals that it looks at; ``flow_bytes``: size of rlcc_flow; ``arguments``: of the function that
    takes most; ``knobs``: that it sets; ``once_per_rtt``: it does not decide on late answers.
    """
    missing = [name for name in target.lacks if name in signals]
    if missing:
        return (
            f"the policy looks at {missing[0]}, which the target {target.name} does not give; choose another target or "
            f"distil a policy without it"
        )
    equal = [name for name in target.one_count if name in signals]
    if len(equal) > 1:
        return (
            f"the policy looks at {' and '.join(equal)}, which are one count on the target {target.name}; choose "
            f"another target or distil a policy with one of them"
        )
    adapter = adapter_bytes(target, signals, knobs, once_per_rtt)
    if flow_bytes + adapter > target.context_bytes:
        return (
            f"the flow context takes {flow_bytes + adapter} bytes ({flow_bytes} of the policy, {adapter} of the "
            f"adapter), but the target {target.name} keeps {target.context_bytes} a flow; distil with a smaller window "
            f"or fewer features"
        )
    if target.most_arguments is not None and arguments > target.most_arguments:
        return (
            f"a tree looks at {arguments} features, but functions of the target {target.name} take at most "
            f"{target.most_arguments}; distil with fewer features or a smaller depth"
        )
    return None

"""Sentences of the properties, as findings state them: the prover and the checker write numbers into the same words."""

from decision.ir.interfaces.flow_rate import LINE_RATE_Q30

SEES_NOTHING = "more of what is seen never raises the multiplier", "the trees ask for nothing that is seen"
"""The property and its value where no signal is compared."""
NO_REST = "at no congestion: it always rises, or always falls"
NO_RISE = "it never rises"
MAX_DECISIONS = 4096
"""Decisions that a flow is followed for on its way to a rate."""
LONGER = f"not in {MAX_DECISIONS}"


def exact(number: float) -> str:
    """The shortest text that is this very number."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


def share_of_line(rate: int) -> str:
    """A rate, Q0.30, as a part of line rate."""
    share = f"{(LINE_RATE_Q30 + 1) / rate:.6g}"
    return "line rate" if share == "1" else f"line rate / {share}"


def monotone(feature: str) -> str:
    return f"more {feature} never raises the multiplier"


def not_raised(thresholds: int) -> str:
    return f"at each of {thresholds} thresholds"


def raised(at: list[int], thresholds: int, by: float, exact: bool = True) -> str:
    """``at``: the thresholds, ascending; ``by``: the greatest rise, a multiplier."""
    least = "" if exact else "at least "
    places = ", ".join(map(str, at))
    return f"raised at {len(at)} of {thresholds} thresholds ({places}), by {least}{by:.4f} at most"


def step(at_least: float | None, at_most: float | None) -> str:
    ends = {"at least": at_least, "at most": at_most}
    limits = [f"{word} {exact(end)}" for word, end in ends.items() if end is not None]
    return f"the multiplier is {' and '.join(limits) or 'bounded'}"


def multipliers(low: float, high: float, exact: bool = True) -> str:
    return f"{low:.5f} to {high:.5f} " + ("over all cells" if exact else "at most")


def no_cycle(length: int) -> str:
    return f"where what is seen stays the same, no circle of 2 to {length} decisions"


def no_circles(levels: int, longest: int) -> str:
    """``longest``: decisions of the longest circle, 1 where every level comes to rest."""
    return f"from every context, at each of {levels} levels" + (f"; one of {longest}" if longest > 1 else "")


def circles(lengths: list[int], at: int, levels: int) -> str:
    return f"circles of {', '.join(map(str, lengths))} at {at} of {levels} levels"


def no_rise_above(rate: int, inflation: str, base_rtt_ns: int) -> str:
    return f"at a rate of {share_of_line(rate)} it never rises above an inflation of {inflation} ({base_rtt_ns} ns)"


def rises_to(least: str, multiplier: float, low_ns: int, high_ns: int) -> str:
    return f"least {least}, a multiplier of {multiplier:.4f} at {low_ns} to {high_ns} ns"


def arrives(inflation: float | None, base_rtt_ns: int, start: int, end: int, decisions: int | None) -> str:
    """``inflation`` None: at the base RTT; rates Q0.30."""
    at = "the base RTT" if inflation is None else f"an inflation of {exact(inflation)}"
    limit = "k" if decisions is None else decisions
    return (
        f"at {at} ({base_rtt_ns} ns), from {share_of_line(start)} at {share_of_line(end)} in at most {limit} decisions"
    )


def arrived(decisions: int) -> str:
    return f"least {decisions}"


def never(rate: int) -> str:
    """``rate``: Q0.30, the one furthest from the goal that comes back for good."""
    return f"never: it stays at {share_of_line(rate)}"


def rest(flows: tuple[int, int], target: float, beta: float, base_rtt_ns: int, within: float | None) -> str:
    limit = "" if within is None else f", within {exact(within)} of it"
    theory = f"{exact(target)} * sqrt(N) + {exact(beta)} base RTTs ({base_rtt_ns} ns)"
    return f"{flows[0]} to {flows[1]} flows rest at {theory}{limit}"


def rests(off: float, flows: int, low: float, high: float, theory: float) -> str:
    return f"off by {off:.1%} at most: {flows} flows at {low:.3f} to {high:.3f} for {theory:.3f}"


def ordered(knob: str, floor: str) -> str:
    return f"{knob} is never below {floor}"

"""papers/pages/tables.md from the runs: how it was made, the summary, then a section a table."""

from collections.abc import Mapping, Sequence

from netsim.policies import NativePolicy
from papers import pcc_rl, rl_cc
from papers.contenders import Contender
from papers.found import Found
from papers.sections import Section
from papers.summary import summary
from papers.traffic import Traffic
from rlcc.evaluation.grid import Times
from rlcc.origin import made_by
from rlcc.reports.pages import listed, wrapped


def sections(times: Times) -> list[Section]:
    return [*pcc_rl.sections(times), *rl_cc.sections(times)]


def write(found: Found, made: Sequence[Section], times: Times, contenders: Mapping[str, Contender], quick: bool) -> str:
    """The whole page."""
    steady = (*_traffic(made, "PCC-RL, table 1: "), *_traffic(made, "PCC-RL, table 2"))
    changing = _traffic(made, "PCC-RL, table 8")
    parts = [_head(found, times, contenders, quick), summary(found, steady, changing)]
    tree_us = _us(contenders["RL-CC tree"])
    for section in made:
        parts.append(f"## {section.title}\n{section.write(found).replace('{tree_us}', tree_us)}")
    return wrapped("\n\n".join(parts))


def _head(found: Found, times: Times, contenders: Mapping[str, Contender], quick: bool) -> str:
    ms = [t // 10**9 for t in (times.duration_ps, *times.window_ps)]
    seeds = listed([str(s) for s in found.seeds])
    draft = "**Made with --quick: short runs of one seed, not to be cited.**\n\n" if quick else ""
    return f"""# The papers' tables beside ours

{draft}{made_by("python -m papers")} Sentences with figures are written from
the runs, and the pictures drawn; finished runs are kept in `build/papers`.

PCC-RL is Tessler et al., "Reinforcement Learning for Datacenter Congestion Control", 2021; RL-CC is Fuhrer et al.,
"Implementing Reinforcement Learning Datacenter Congestion Control in NVIDIA NICs", 2022. Their simulator is not
public, so what can be asked is that order and trend agree.

- Runs of {ms[0]} ms from an empty network, measured from {ms[1]} to {ms[2]} ms (the window of RL-CC's published
  code), unless said otherwise.
- Seeds {seeds}; `±` is the half-width of the 99 % confidence interval of the mean (Student's t), left out where it
  rounds to 0.
- One switch, 100 Gb/s, base RTT 8192 ns, packets of 1024 bytes in 1106, a buffer of 5 MiB that drops when full ([the
  network](../../docs/explanation/netsim.md)).
- All flows start within 10 us: baselines' at line rate, policies' at {_initial(contenders)} of it. Decisions take
  effect after 0.9 us, the tree's after {_us(contenders["RL-CC tree"])} us, its slowest vector on the emulated engine;
  baselines act at once ([parameters and sources](../../docs/reference/baselines.md)).
- "PCC-RL LSTM" has PCC-RL's network and RL-CC's reward, as RL-CC trains it; "RL-CC MLP" and "RL-CC LSTM" (the small
  one of table 1) have RL-CC's ([how they were trained](../../fixtures/teachers/README.md)). "RL-CC tree" is the C of
  firmware `{contenders["RL-CC tree"].firmware[:12]}`, which `recipes/rl-cc.toml` gave of the MLP when this page was
  made; another version of rlcc may distil another student.
- "robust-in-flight" is no paper's: the policy of ours that is made for flows that come and go, with a cap on what is
  in flight; [PCC-RL's table 8 with other short flows](robust.md), [46 networks](../../docs/results/standing.md).
- "DCQCN" has the defaults of ConnectX NICs. It is made for lossless networks: "DCQCN, PFC" runs with priority flow
  control and 32 MiB of buffer, room for what is under way when it pauses.
- max-min is the ideal allocation of rates, told everything at once: a yardstick, not an algorithm.
"""


def _us(contender: Contender) -> str:
    return f"{contender.decision_latency_ps / 1e6:.3f}"


def _initial(contenders: Mapping[str, Contender]) -> str:
    """`100 %`, or all that there are."""
    policies = [c.policy.policy for c in contenders.values() if isinstance(c.policy, NativePolicy)]
    return listed(
        [f"{rate:.3g} %" for rate in sorted({p.limits.rate_initial * 100 / 2**30 for p in policies if p.limits})]
    )


def _traffic(made: Sequence[Section], title: str) -> tuple[Traffic, ...]:
    return next(s.traffic for s in made if s.title.startswith(title))

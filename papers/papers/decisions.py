"""RL-CC, figure 5: what its MLP decides over congestion and last action, after three past states.

python -m papers.decisions [--docs FOLDER]
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure as Canvas

from decision.ir.arrays import Floats
from decision.policy.features import PreviousAction
from papers.command import add_docs, store, written
from papers.contenders import TEACHERS
from papers.found import beside
from papers.pictures import STYLE, svg
from rlcc.origin import made_by
from rlcc.reports.pages import listed, table, wrapped
from teachers.curriculum import congestion_feature
from teachers.inference import decide_states
from teachers.load import load
from teachers.teacher import Teacher

ACROSS = UP = 61
FURTHEST = 2.0
"""Of delta, in targets."""
SHOWN = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)
BEFORE = (0.85, 1.0, 1.15)
PRINTED = {0.85: 1.05, 1.15: 0.95}
"""What the paper says is decided in steady state, delta 0, by the last action."""
SOME = 0.1
"""Of the paper's swing: what is less is none."""
NEAR = 0.02
"""Of 1, or of the largest step: what is called neutral, or on or off."""


@dataclass(frozen=True)
class Past:
    """The state before: the action that had led there, and delta in targets."""

    name: str
    action: float
    delta: float


PASTS = (
    Past("steady", 1.0, 0.0),
    Past("under-used, the rate raised", 1.1, 1.0),
    Past("congested, the rate lowered", 0.9, -1.0),
)


def decided(teacher: Teacher, past: Past, deltas: Floats, actions: Floats) -> Floats:
    """The multipliers [actions, deltas] by which rates are changed; ``deltas`` in targets."""
    congestion = congestion_feature(teacher.policy)
    kinds = [isinstance(f, PreviousAction) for f in teacher.policy.observation.features]
    scale = congestion.factor * congestion.target

    def state(action: Floats, delta: Floats) -> Floats:
        both = np.broadcast_arrays(action, delta * scale)
        return np.stack([both[0] if is_action else both[1] for is_action in kinds], axis=-1)

    now = state(actions[:, None], deltas[None, :])
    before = np.broadcast_to(state(np.array(past.action), np.array(past.delta)), now.shape)
    states = np.stack([now, before], axis=2).reshape(-1, 2, len(kinds))
    return decide_states(teacher, states, 0).reshape(now.shape[:2])


def limits(teacher: Teacher) -> tuple[float, float]:
    """The least and the greatest multiplier."""
    far = decided(teacher, PASTS[0], np.array([-1e3, 1e3]), np.array([1.0]))
    return float(far.min()), float(far.max())


def axes_of(teacher: Teacher) -> tuple[Floats, Floats]:
    low, high = limits(teacher)
    return np.linspace(-FURTHEST, FURTHEST, ACROSS), np.linspace(low, high, UP)


def at(teacher: Teacher, past: Past, delta: float, action: float) -> float:
    return float(decided(teacher, past, np.array([delta]), np.array([action]))[0, 0])


def _table(teacher: Teacher, past: Past) -> str:
    rows = [[f"after {action:g}", *(f"{at(teacher, past, delta, action):.3f}" for delta in SHOWN)] for action in BEFORE]
    return table([past.name, *(f"delta {d:+g}" for d in SHOWN)], rows)


def _said(teacher: Teacher, past: Past) -> list[str]:
    """Spans over delta and over the last action, what is decided where nothing changed, the share on or off."""
    deltas, actions = axes_of(teacher)
    plane = decided(teacher, past, deltas, actions)
    low, high = limits(teacher)
    by_delta = np.ptp(decided(teacher, past, deltas, np.array([1.0])))
    by_action = np.ptp(decided(teacher, past, np.array([0.0]), actions))
    ends = np.mean((plane < low + NEAR) | (plane > high - NEAR))
    same = at(teacher, past, past.delta, past.action)
    return [past.name, f"{by_delta:.3f}", f"{by_action:.3f}", f"{same:.3f}", f"{100 * ends:.0f}"]


def page(teacher: Teacher) -> str:
    """The whole page."""
    steady, raised, lowered = PASTS
    printed = listed([beside(f"{at(teacher, steady, 0.0, a):.3f}", PRINTED[a]) + f" after {a:g}" for a in PRINTED])
    swings = all((at(teacher, steady, 0.0, a) - 1) / (PRINTED[a] - 1) > SOME for a in PRINTED)
    same = [at(teacher, past, past.delta, past.action) for past in PASTS]
    neutral = [past.name for past, each in zip(PASTS, same, strict=True) if abs(each - 1) <= NEAR]
    mirrored = max(
        abs(at(teacher, raised, d, a) + at(teacher, lowered, -d, 2 - a) - 2) for d in SHOWN for a in (0.9, 1.0, 1.1)
    )
    low, high = limits(teacher)
    deltas, actions = axes_of(teacher)
    furthest = max(np.abs(decided(teacher, past, deltas, actions) - 1).max() for past in PASTS)
    heads = ["", "over delta", "over the last action", "where nothing changed", "on or off, %"]
    text = f"""# RL-CC's figure 5: what the policy decides

{made_by("python -m papers.decisions")}

[RLCC] section 4.1 scans what its MLP of two decisions sees, delta (the target less congestion) and the last action,
after three past states, and colours what it decides. Here the same of `fixtures/teachers/rl-cc-mlp`, whose decisions
multiply the rate by {low:.3f} to {high:.3f}; delta is in targets, from deep congestion on the left to an idle link on
the right. One network, and nothing is drawn, so there are no seeds.

![what is decided after three past states](figures/rl-cc-figure-5.svg)

## After three past states
{chr(10).join(_table(teacher, past) for past in PASTS)}
## Beside the paper's words
Spans of what is decided, over delta in +-{FURTHEST:g} targets with a last action of 1, and over all last actions with
delta 0; what is decided where the state is as the one before (the paper's arrows); and how much of the plane is within
{NEAR:g} of the largest step:

{table(heads, [_said(teacher, past) for past in PASTS])}
In the paper delta has the most impact, and in steady state the policy swings gently about 1 against its last action.
Ours / the paper's there: {printed}: {"it swings" if swings else "it does not swing"}. The paper: where the change of
the state is small the policy is neutral. Ours is, within {NEAR:g}, after: {listed(neutral) or "none"}. The paper: the
pictures after a raised and a lowered rate mirror each other. Ours do but for {mirrored:.3f} at the most of what stands
above. The paper: where the change is large it is on or off. Ours decides at most
{furthest:.3f} off 1 within {FURTHEST:g} targets, of steps up to {high - 1:.3f}:
{"it is not" if furthest < (high - 1) / 2 else "it is"}."""
    return wrapped(text)


def picture(teacher: Teacher) -> bytes:
    """A panel a past state: what is decided over delta and the last action; a ring where nothing changed."""
    deltas, actions = axes_of(teacher)
    low, high = limits(teacher)
    with rc_context(STYLE):
        canvas = Canvas(figsize=(9.2, 3.0), layout="constrained")
        panels = canvas.subplots(1, len(PASTS), sharey=True)
        for axes, past in zip(panels, PASTS, strict=True):
            plane = decided(teacher, past, deltas, actions)
            levels = np.linspace(low, high, 12)
            filled = axes.contourf(deltas, actions, plane, levels=levels, cmap="RdBu", extend="both")
            axes.contour(deltas, actions, plane, levels=[1.0], colors="black", linewidths=0.8)
            axes.plot(past.delta, past.action, "o", markersize=7, markerfacecolor="none", color="#007A33")
            axes.set_title(past.name, fontsize=8.5)
            axes.set_xlabel("delta, targets")
        panels[0].set_ylabel("last action")
        bar = canvas.colorbar(filled, ax=panels)
        bar.set_label("decided")
        return svg(canvas)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m papers.decisions", description="RL-CC's figure 5.")
    add_docs(parser)
    return written(parser, arguments, _write)


def _write(options: argparse.Namespace) -> None:
    teacher = load(TEACHERS / "rl-cc-mlp")
    store(options.docs / "figures" / "rl-cc-figure-5.svg", picture(teacher))
    store(options.docs / "decisions.md", page(teacher).encode())


if __name__ == "__main__":
    sys.exit(main())

"""monotone and step: what the multiplier is in every cell of the forest, looked up one after the other."""

import numpy as np

from decision.policy.features import PreviousAction
from decision.policy.student import Student
from decision.policy.tree_decision import feature_name
from verify.check.cells import ONE, Table
from verify.check.refused import Refused
from verify.trusted import wording
from verify.trusted.certificate import FindingClaim, Verdict
from verify.trusted.properties import Monotone, Step


def step(table: Table, asked: Step) -> list[FindingClaim]:
    low, high = table.value.min() / ONE, table.value.max() / ONE
    limited = (asked.at_least, asked.at_most) != (None, None)
    above = asked.at_least is None or low >= asked.at_least
    inside = above and (asked.at_most is None or high <= asked.at_most)
    verdict: Verdict = "found" if not limited else "holds" if inside else "fails"
    says, value = wording.step(asked.at_least, asked.at_most), wording.multipliers(low, high)
    return [FindingClaim(says=says, verdict=verdict, value=value, witness={})]


def extreme(table: Table, asked: Step, claim: FindingClaim) -> None:
    """Refused where the witness is in no cell that breaks the limit; where none is broken, in none of the ends."""
    ends = {"low": int(table.value.min()), "high": int(table.value.max())}
    if asked.at_least is not None and ends["low"] / ONE < asked.at_least:
        due = {ends["low"]}
    elif asked.at_most is not None and ends["high"] / ONE > asked.at_most:
        due = {ends["high"]}
    else:
        due = {*ends.values()}
    _only(table, claim)
    if int(table.value[table.place(claim.witness, claim.says)]) not in due:
        raise Refused(f"{claim.says}: the witness does not show it")


def monotone(table: Table, student: Student, asked: Monotone) -> list[FindingClaim]:
    """Returns a finding for each feature that is seen. Refused where the one that is asked for is not."""
    observation = student.observation
    decisions = {
        feature_name(feature, lag)
        for lag in range(observation.window)
        for feature in observation.features
        if isinstance(feature, PreviousAction)
    }
    seen = [c for c, name in enumerate(table.names) if name not in decisions]
    if asked.feature is not None and asked.feature not in [table.names[c] for c in seen]:
        raise Refused(f"the trees see no {asked.feature}")
    if not seen:
        says, value = wording.SEES_NOTHING
        return [FindingClaim(says=says, verdict="holds", value=value, witness={})]
    return [_monotone(table, c) for c in seen if asked.feature in (None, table.names[c])]


def _monotone(table: Table, column: int) -> FindingClaim:
    says = wording.monotone(table.names[column])
    by_cell = np.moveaxis(table.value, column, 0)
    rises = np.diff(by_cell.reshape(len(by_cell), -1), axis=0)
    up = rises.max(axis=1, initial=0) > 0
    if not up.any():
        return FindingClaim(says=says, verdict="holds", value=wording.not_raised(len(up)), witness={})
    value = wording.raised(table.edges[column][up].tolist(), len(up), rises.max() / ONE)
    return FindingClaim(says=says, verdict="fails", value=value, witness={})


def raising(table: Table, claim: FindingClaim) -> None:
    """Refused where the multiplier does not rise as claimed from the witness on to the next cell of its feature."""
    if claim.verdict == "holds":
        if claim.witness:
            raise Refused(f"{claim.says}: nothing is raised, yet there is a witness")
        return
    _only(table, claim)
    at = table.place(claim.witness, claim.says)
    column = next(c for c, name in enumerate(table.names) if claim.says == wording.monotone(name))
    above = tuple(k + (c == column) for c, k in enumerate(at))
    rise = int(table.value[above] - table.value[at]) if above[column] < table.value.shape[column] else 0
    greatest = int(np.diff(table.value, axis=column).max(initial=0))
    if rise <= 0 or rise != greatest:
        raise Refused(f"{claim.says}: the witness does not show it")


def _only(table: Table, claim: FindingClaim) -> None:
    if set(claim.witness) != set(table.names):
        raise Refused(f"{claim.says}: the witness does not have what the trees look at, or more")

"""The verdict on a firmware folder: checks, each with its figure and its limit. How it is written: rlcc/reports."""

from collections import Counter
from typing import Any, Literal, get_args

from pydantic import Field, field_validator, model_validator

from decision.artefact.documents import validate
from decision.artefact.errors import InputError
from decision.artefact.strict import Strict

FORMAT = 2
"""Format 1 had no ids, and other names (docs/reference/gate.md, "Names in format 1")."""
QUICK = "--quick"
"""Why a group was not judged, where nothing else is said."""
Outcome = Literal["PASS", "QUICK PASS", "FAIL"]
Group = Literal["equality", "object code", "size", "proof", "budget", "regression", "behaviour", "teacher", "network"]


class Check(Strict):
    """One thing that must hold. ``id`` is stable and unique in a verdict: programs look a check up by it. ``name``,
    ``value`` and ``limit`` are for people; ``detail`` says what to do or where to look; ``note``, also where it passed,
    what the figure and its limit do not tell.
    ``file`` of the firmware folder is what the check is about, ``line`` (from 1; 0: none) the place in it."""

    id: str = Field(min_length=1)
    group: Group
    name: str
    value: str
    limit: str
    passed: bool
    detail: str = ""
    note: str = ""
    file: str = ""
    line: int = Field(default=0, ge=0)


class CostlyLine(Strict):
    """A line of the firmware's C, and the cycles that its instructions take on the worst path."""

    function: str
    line: int = Field(ge=0)
    text: str
    cycles: float


class WorstPath(Strict):
    """Cycles of the slowest known input by line, the costliest lines first."""

    input: str
    cycles: float
    lines: list[CostlyLine]

    @property
    def placed(self) -> list[CostlyLine]:
        """The costs that a line of the C can be named for."""
        return [cost for cost in self.lines if cost.line]


class Verdict(Strict):
    """The outcome, and why. ``not_judged``: groups of checks that were left out; ``reasons``: why, of each group that
    was left out otherwise than by `rlcc gate --quick`. ``note``: what all failures together say about how the gate was
    called; else empty. ``measured`` holds the figures as numbers: of the core
    (``emulation``), of actions beside the teacher's on rollouts (``teacher``) and in the cells of the forest
    (``neighbourhood``), of the networks (``network``, every metric of every run; ``fidelity``, what was judged of them
    beside the teacher's own noise)."""

    format: Literal[2] = 2
    policy: str
    firmware: str
    student: str
    teacher: str
    profile: str
    checks: list[Check]
    not_judged: list[Group] = Field(default=[])
    reasons: dict[Group, str] = Field(default={}, exclude_if=lambda reasons: not reasons)
    note: str = Field(default="", exclude_if=lambda note: not note)
    worst_path: WorstPath | None = None
    measured: dict[str, Any]

    @field_validator("checks")
    @classmethod
    def _unique_ids(cls, checks: list[Check]) -> list[Check]:
        twice = [one for one, count in Counter(check.id for check in checks).items() if count > 1]
        if twice:
            raise ValueError(f"two checks have the id {twice[0]}")
        return checks

    @model_validator(mode="after")
    def _reasons_of_what_is_left_out(self) -> "Verdict":
        judged = [group for group in self.reasons if group not in self.not_judged]
        if judged:
            raise ValueError(f"reasons: {judged[0]} is not among not_judged")
        return self

    @property
    def quick(self) -> bool:
        """Returns whether --quick left something out."""
        return any(group not in self.reasons for group in self.not_judged)

    @property
    def left_out(self) -> dict[Group, str]:
        """Returns each group that was not judged, and why."""
        return {group: self.reasons.get(group, QUICK) for group in self.not_judged}

    @property
    def left_out_text(self) -> str:
        """Returns them by their reasons: "teacher, network (--quick)"."""
        groups: dict[str, list[str]] = {}
        for group, reason in self.left_out.items():
            groups.setdefault(reason, []).append(group)
        return "; ".join(f"{', '.join(names)} ({reason})" for reason, names in groups.items())

    @property
    def holds(self) -> bool:
        """Returns whether all checks that were judged hold; of a verdict without any, False."""
        return bool(self.checks) and all(check.passed for check in self.checks)

    @property
    def outcome(self) -> Outcome:
        """Returns PASS only if every group of checks was judged; QUICK PASS if all checks hold and some were not."""
        if not self.holds:
            return "FAIL"
        return "QUICK PASS" if self.not_judged else "PASS"

    @property
    def passed(self) -> bool:
        """Returns whether the outcome is PASS."""
        return self.outcome == "PASS"

    def failures(self) -> list[Check]:
        return [check for check in self.checks if not check.passed]


def parsed(data: Any, where: str) -> Verdict:
    """Returns the verdict of a verdict.json. InputError if it is none of this format, or states another outcome than
    its checks have; ``where``: its place, for the sentence."""
    if isinstance(data, dict) and data.get("format") == 1:
        raise InputError(
            f"{where} is a verdict of format 1, and this rlcc reads format {FORMAT}; judge its firmware again with "
            "this rlcc (docs/reference/gate.md says what changed)"
        )
    said = {key: value for key, value in data.items() if key != "verdict"} if isinstance(data, dict) else data
    verdict, stated = validate(Verdict, said, where), data.get("verdict")
    if stated != verdict.outcome:
        raise InputError(f"{where} states {str(stated)[:20]!r}, and its checks give {verdict.outcome}; judge again")
    return verdict


def schema() -> dict[str, Any]:
    """The JSON Schema of verdict.json."""
    verdict = Verdict.model_json_schema()
    verdict["properties"] = {"verdict": {"enum": list(get_args(Outcome))}, **verdict["properties"]}
    verdict["required"] = ["verdict", *verdict["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **verdict}

"""A forest as a body: of a student, and the base of a model's."""

from pathlib import Path
from typing import Any

from codegen.body import Body
from codegen.passes.program import LoweredProgram
from codegen.printer import Printer
from codegen.trees_c import Physical
from codegen.vectors import Vectors, make
from codegen.walk import Histogram
from decision.artefact.errors import InputError
from decision.ir.forest import integer
from decision.ir.program import Program
from decision.policy.policy import Header
from decision.policy.student import NAME as STUDENT_NAME
from decision.policy.student import Student
from decision.policy.tree_decision import feature_name
from decision.policy.trigger import SAVED


class TreeBody(Body):
    """Properties that every forest has."""

    def vectors(self, program: Program, lowered: LoweredProgram, seed: int) -> tuple[Vectors, dict[str, Any]]:
        groups = lowered.forests[0].groups if len(lowered.forests) == 1 else ()
        vectors, edges = make(program, self.decider.params(), seed=seed, groups=groups)
        return vectors, {
            "threshold_points": {"wanted": edges.wanted, "hit": edges.hit},
            "visits": {"wanted": edges.visits_wanted, "made": edges.visits_made},
        }

    def words(self, lowered: LoweredProgram, printer: Printer) -> dict[str, Any]:
        forest = lowered.program.forest
        return {
            "trees": len(forest.trees),
            "depth": forest.depth,
            "thresholds": sum(len(t) for t in forest.thresholds().values()),
            "table_bytes": sum(walked.table_bytes for walked in lowered.forests),
            "form": ", then ".join(walked.form for walked in lowered.forests) or "none",
        }

    def details(self, lowered: LoweredProgram) -> dict[str, Any]:
        forest = lowered.program.forest
        return {
            "trees": len(forest.trees),
            "depth": forest.depth,
            "form": lowered.choice.to_json() if lowered.choice else None,
        } | ({"first": [w.choice.to_json() for w in lowered.walks[:-1]]} if len(lowered.walks) > 1 else {})


class StudentBody(TreeBody):
    """``artefact``: the hash of the student's folder, which holds more than the student; None of a model's student,
    which has none."""

    file = STUDENT_NAME
    decider: Student

    def __init__(self, student: Student, artefact: str | None) -> None:
        super().__init__(student)
        self.artefact = artefact

    def hash(self, folder: Path) -> str:
        return super().hash(folder) if self.artefact is None else self.artefact

    def parents(self) -> dict[str, str]:
        if self.artefact is None:
            return {"model": self.decider.model}
        return {"student": self.artefact, "teacher": self.decider.teacher}

    def header(self) -> Header:
        return self.decider.header

    def visits(self) -> dict[str, Histogram]:
        """The frequencies that the distillation measured; InputError where they are not such."""
        try:
            measured = self.decider.report.get("visits", {})
            return {
                str(name): Histogram(tuple(map(integer, v["borders"])), tuple(float(integer(c)) for c in v["counts"]))
                for name, v in measured.items()
            }
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InputError(
                f"{STUDENT_NAME}: report.visits is not readable ({error!r}); distil the student again"
            ) from None

    def physical(self) -> Physical:
        observation = self.decider.observation
        by_name = {
            feature_name(feature, lag): (feature, lag)
            for lag in range(observation.window)
            for feature in observation.features
        }
        names = self.decider.program().forest.features

        def physical(feature: int, threshold: int) -> str:
            kind, lag = by_name[names[feature].removeprefix(SAVED)]
            text = kind.physical(threshold)
            text = text if lag == 0 else f"{text}, {lag} decision{'s' if lag > 1 else ''} back"
            return f"{text}, as saved" if names[feature].startswith(SAVED) else text

        return physical

    def words(self, lowered: LoweredProgram, printer: Printer) -> dict[str, Any]:
        observation = self.decider.observation
        looked_at = {name.removeprefix(SAVED) for name in lowered.program.forest.features}
        lags = range(observation.window)
        shown = [f for f in observation.features if any(feature_name(f, lag) in looked_at for lag in lags)]
        return super().words(lowered, printer) | {
            "made": "read" if self.decider.model else "distilled",
            "meanings": [feature.meaning() for feature in shown],
            "origin": "model" if self.decider.model else "teacher",
            "teacher_hash": self.decider.model or self.decider.teacher,
            "line_rate_bytes": (observation.line_rate or 0) // 8,
        }

    def initial(self, name: str, value: int) -> str:
        if name == "base_rtt_recip_q42":
            return f"RLCC_BASE_RTT_RECIP_Q42({self.decider.observation.base_rtt}U)"
        return super().initial(name, value)

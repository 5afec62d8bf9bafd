"""Claims about a student's deviation from its teacher, as a certificate states them."""

from typing import Annotated

from pydantic import ConfigDict, Field

from decision.artefact.strict import Strict

Share = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Word = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Action = Annotated[float, Field(allow_inf_nan=False)]


class TeacherClaim(Strict):
    """Distances are of actions, multipliers of the rate - 1. In no state the student's action is further than ``bound``
    outside the range of its teacher's around that state; in the state ``witness`` (integers by feature) it is at least
    ``reached``. Past actions are the student's own; ``signals``: the range of what else is observed, by feature."""

    model_config = ConfigDict(strict=True)
    teacher: str
    """Its hash."""
    share: Share
    """Around a signal, relative."""
    action: Share
    """Around a past action."""
    signals: dict[str, Annotated[list[Word], Field(min_length=2, max_length=2)]]
    step: int = Field(ge=0, lt=2**63)
    """To which past actions were told apart in histories, Q16; 0: any history was taken to be possible."""
    bound: Share
    reached: Share
    witness: dict[str, Word]
    student: Action
    """Its action in the witness."""
    around: Annotated[list[Action], Field(min_length=2, max_length=2)]
    """Its teacher's actions around the witness lie within."""

"""[trigger]: a policy that is asked only where a second, smaller one says so ([HAECN] section 3.2).

    fired = it is the agent's first decision, or trigger(now, saved) says so
    row   = fired ? choice(now) : the row that was chosen last
    saved = fired ? now : saved

``now`` is what the policy observes; ``saved`` the newest decisions of it as they were when the trigger fired last. Both
are one decision of one program: what was saved and the row stand in the context, and its last knob says whether it
fired.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from decision.artefact.strict import Strict
from decision.ir.interface import TRIGGERED
from decision.ir.interfaces import INTERFACES
from decision.ir.program import Op, ProgramBuilder
from decision.policy.actions import AnyAction, Choice, clamp

SAVED = "saved_"
ROW = "row_chosen"
OUTPUTS = 2
"""Of a teacher's trigger: what it is worth to keep the row, and to choose anew; it fires where the second is more."""

Units = Annotated[int, Field(strict=True, ge=1, le=1024)]


class Trigger(Strict):
    """The table. ``hidden``: layers of the trigger's own network; ``saved``: how many decisions of the window it sees
    as they were when it fired last, the newest first."""

    hidden: list[Units] = Field(max_length=8)
    """Sizes of the hidden layers of the trigger's own network."""
    saved: Annotated[int, Field(strict=True, ge=1, le=16)]
    """Number of decisions that the trigger sees as they were when it fired last."""

    def check(self, interface: str, action: AnyAction, window: int) -> None:
        """ValueError where there is nothing that it could leave as it is, or save."""
        agents = INTERFACES[interface]
        if not isinstance(action, Choice):
            raise ValueError(f"trigger: it keeps the row that was chosen last, and the action is a {action.kind}")
        if action.rows is None:
            raise ValueError("trigger: it keeps the row that was chosen last, and the action has groups; give rows")
        if TRIGGERED not in agents.knobs:
            raise ValueError(f"trigger: agents of {interface} do not say whether it fired")
        if self.saved > window:
            raise ValueError(f"trigger: of {window} decisions in the window {self.saved} cannot be saved")

    def saved_names(self, names: Sequence[str], window: int) -> tuple[str, ...]:
        """Returns the features [window x features] that are saved, as the trigger's trees see them."""
        return tuple(SAVED + name for name in names[: len(names) // window * self.saved])


def triggered(data: Any) -> Any:
    """A document with the table, its observation's interface said: that of agents which say whether it fired."""
    if not isinstance(data, Mapping) or data.get("trigger") is None or not isinstance(data.get("observation"), Mapping):
        return data
    observation = data["observation"]
    for name, agents in INTERFACES.items():
        if TRIGGERED in agents.knobs and name == f"{observation.get('interface')}_{TRIGGERED.name}":
            return {**data, "observation": {**observation, "interface": name}}
    return data


def check_trigger(trigger: Trigger | None, interface: str, action: AnyAction, window: int) -> None:
    """ValueError where the table and its agents do not go together."""
    if trigger is not None:
        trigger.check(interface, action, window)
    elif TRIGGERED in INTERFACES[interface].knobs:
        raise ValueError(f"agents of {interface} have a [trigger], and there is none; add it, or leave _triggered out")


def chosen(b: ProgramBuilder, action: Choice, fire: int, best: int) -> tuple[int, int]:
    """Nodes of whether the trigger fires and of the row: ``best``, or the one that was chosen last. ``fire``: the
    trigger's sum, 0 keep to 1 choose anew."""
    kept = b.state_in(ROW, "uint16", "the row in force and 1 more; 0 in a new agent")
    new = b.add(Op.EQ, (kept, b.const(0)), name="new_agent")
    asked = b.add(Op.GT, (fire, b.const(1 << (action.leaf_bits - 1))), name="asked", note="the trigger says so")
    fired = b.add(Op.MAX, (new, asked), name="fired", note="choose anew")
    held = clamp(b, kept, 1, action.outputs, "row_held", "")
    last = b.add(Op.SUB, (held, b.const(1)), name="row_last")
    row = b.add(Op.SELECT, (fired, best, last), name="row", note="anew, or the one in force")
    b.state_out(ROW, b.add(Op.ADD, (row, b.const(1)), name="row_new"))
    return fired, row

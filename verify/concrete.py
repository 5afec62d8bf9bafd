"""Single inputs, run: what the code does with them and what the program says."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from decision.interpret import evaluate
from decision.program import Program
from emulator.firmware import argument_blocks
from emulator.objects import Image
from emulator.profile import Profile
from emulator.vectors import Layout
from verify.costs import CycleModel
from verify.execute import ExecutionFault, Simulator
from verify.machine import IllegalInstruction

ORDER = ("flow", "event", "params")
Example = dict[str, int]
"""Words of "event.x", "params.x" and "flow.x"."""


@dataclass(frozen=True)
class Outcome:
    """``cycles`` is None where the code did what it may not; ``text`` says what differs from the program."""

    cycles: int | None
    equal: bool
    text: str


class Runner:
    """Runs single inputs in the simulator and through the program."""

    def __init__(
        self,
        image: Image,
        program: Program,
        layouts: Mapping[str, Layout],
        profile: Profile,
        model: CycleModel,
        entry: str,
    ) -> None:
        self.image, self.program, self.layouts, self.profile, self.entry = image, program, layouts, profile, entry
        self.simulator = Simulator(image, entry, profile, argument_blocks(layouts), model)

    def run(self, example: Example) -> Outcome:
        """The code and the program on one input."""
        records = {}
        for name in ORDER:
            layout = self.layouts[name]
            columns = {f: np.array([example.get(f"{name}.{f}", 0)], dtype=np.int64) for f in layout.fields}
            records[name] = layout.pack(columns, 1)
        parts = [{f: int(records[n][f][0]) for f in self.layouts[n].fields} for n in ("event", "params", "flow")]
        returned, state = evaluate(self.program, *parts)
        values = {"return": returned, **state}
        wanted = {name: int(np.ravel(value)[0]) for name, value in values.items()}
        try:
            done = self.simulator.call([records[name].tobytes() for name in ORDER])
        except (ExecutionFault, IllegalInstruction) as error:
            return Outcome(None, False, str(error))
        flow = np.frombuffer(done.written["flow"], dtype=self.layouts["flow"].dtype)[0]
        found = {"return": done.returned, **{name: int(flow[name]) for name in state}}
        wrong = [f"{k} is {found[k]}, the program says {wanted[k]}" for k in wanted if found[k] != wanted[k]]
        wrong += [f"x{r} is changed" for r in done.clobbered]
        return Outcome(done.cycles, not wrong, "; ".join(wrong))

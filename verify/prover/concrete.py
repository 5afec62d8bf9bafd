"""Single inputs, run: what the code does with them and what the program says."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from decision.ir.program import Program
from emulator.elf import Image
from emulator.firmware import argument_blocks
from emulator.layout import Layout, outputs, packed
from emulator.profile import Profile
from emulator.vectors import computed
from verify.trusted.costs import CycleModel
from verify.trusted.execute import ExecutionFault, Simulator
from verify.trusted.machine import IllegalInstruction

Example = dict[str, int]
"""Words of "event.x", "params.x" and "context.x"."""


@dataclass(frozen=True)
class Outcome:
    """``cycles`` is None where the code did what it may not; ``text`` says what differs from the program, ``knob``
    whether a knob does."""

    cycles: int | None
    equal: bool
    text: str
    knob: bool = False


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
        names = (f"{group}.{field}" for group, layout in self.layouts.items() for field in layout.fields)
        columns = {name: np.array([example.get(name, 0)], dtype=np.int64) for name in names}
        records = packed(self.layouts, columns, 1)
        try:
            done = self.simulator.call([record.tobytes() for record in records.values()])
        except (ExecutionFault, IllegalInstruction) as error:
            return Outcome(None, False, str(error))
        written = {name: np.frombuffer(data, self.layouts[name].dtype) for name, data in done.written.items()}
        returned = np.array([done.returned], dtype=np.uint32)
        code = {name: int(value[0]) for name, value in outputs(self.program, returned, written).items()}
        right = {name: int(value[0]) for name, value in computed(self.program, records).items()}
        differ = [name for name in right if code[name] != right[name]]
        wrong = [f"{name} is {code[name]}, the program says {right[name]}" for name in differ]
        wrong += [f"x{r} is changed" for r in done.clobbered]
        knob = not set(differ).isdisjoint(self.program.interface.knob_names)
        return Outcome(done.cycles, not wrong, "; ".join(wrong), knob)

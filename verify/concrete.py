"""Single inputs, run: what the code does with them and what the program says."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from emulator.firmware import argument_blocks
from emulator.objects import Image
from emulator.profile import Profile
from emulator.vectors import Layout
from spec.interpret import evaluate
from spec.program import STORAGE_RANGE, Program
from spec.signals import EVENT_NAMES, PARAM_NAMES, U32_MAX
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
        self.program, self.layouts = program, layouts
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

    def search(self, tries: int, seed: int = 0) -> tuple[Example, str] | None:
        """An input that the code gets wrong, among random ones near thresholds and limits."""
        rng = np.random.default_rng(seed)
        edges = [0, 1, U32_MAX, 1 << 30, (1 << 31) - 1, 1 << 31, 524288]
        edges += [t + d for ts in self.program.ensemble.thresholds().values() for t in ts for d in (0, 1)]
        ranges = {f"event.{n}": (0, U32_MAX) for n in EVENT_NAMES} | {f"params.{n}": (0, U32_MAX) for n in PARAM_NAMES}
        ranges |= {f"flow.{s.name}": STORAGE_RANGE[s.storage] for s in self.program.state}
        for _ in range(tries):
            example = {}
            for name, (low, high) in ranges.items():
                near = int(edges[rng.integers(len(edges))])
                wide = int(rng.integers(low, high + 1)) >> int(rng.integers(0, 24))
                example[name] = near if rng.random() < 0.5 and low <= near <= high else wide
            if rng.random() < 0.8:
                late = int(rng.integers(0, 1 << int(rng.integers(1, 23))))
                late = int(edges[rng.integers(len(edges))]) if rng.random() < 0.3 else late
                example["event.response_ns"] = (example["event.request_sent_ns"] + late) & U32_MAX
                example["params.base_rtt_recip_q32"] = 524288
            outcome = self.run(example)
            if not outcome.equal:
                return example, outcome.text
        return None

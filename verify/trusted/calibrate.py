"""The cycle model held to the RTL: random programs, every call's cycles and results on both.

engine = load_profile("ibex-small")
result = calibrate(engine, core_executable(engine.core))        # Calibration(..., above=0, below=0)

The programs (``verify.trusted.calibrate_programs``) lack nothing that a decision may hold: every instruction in every
neighbourhood, loads whose value is used at once, accesses before jumps, calls. Each runs on many inputs, so that its
branches go both ways.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decision.artefact import temporary
from decision.artefact.errors import InputError
from emulator import memory_map
from emulator.compile import compile_policy, link_program, toolchain
from emulator.elf import Image, LoadedSection, read_image
from emulator.memory_map import Block
from emulator.profile import Profile, core_version
from emulator.rtl_run import run_executable
from verify.trusted.calibrate_programs import WORDS, random_program
from verify.trusted.costs import CycleModel, cycle_model
from verify.trusted.execute import Simulator

STUB = "int f(int *out, const int *in) { return *out + *in; }\n"
ENTRY = "f"


@dataclass(frozen=True)
class Calibration:
    """Result of the comparison. ``below``: by how much the RTL was faster than the model at most; ``above``: slower.

    The model is exact where both are 0 and a bound where ``above`` is 0; ``wrong`` counts calls whose results differ.
    """

    profile: str
    profile_hash: str
    core: str
    model: str
    programs: int
    calls: int
    instructions: int
    seed: int
    above: int
    below: int
    wrong: int

    @property
    def holds(self) -> bool:
        """The model says no less than the RTL takes, and exactly that where it claims to be exact."""
        return not self.wrong and not self.above and not (self.model == "exact" and self.below)

    def to_json(self) -> dict[str, str | int]:
        return asdict(self)


def calibrate(
    profile: Profile,
    executable: Path,
    *,
    programs: int = 40,
    calls: int = 32,
    seed: int = 0,
    model: CycleModel | None = None,
    progress: Callable[[str], None] | None = None,
) -> Calibration:
    """Runs random programs on the core, ``executable`` (emulator.core), and in the simulator; the same seed makes the
    same programs."""
    model = model or cycle_model(profile)
    rng = np.random.default_rng(seed)
    stub = _stub(profile)
    table = None
    if profile.table_memory is not None:
        stub, table = _with_constants(stub), memory_map.CONSTANTS_BASE
    above = below = wrong = instructions = 0
    for n in range(programs):
        if progress:
            progress(f"random program {n + 1} of {programs} on {profile.name}")
        image = with_code(stub, random_program(rng, table))
        out, inputs = (_records(rng, calls) for _ in range(2))
        blocks = [Block("out", 4 * WORDS, writable=True), Block("in", 4 * WORDS, writable=False)]
        run = run_executable(executable, image, ENTRY, profile, [(blocks[0], out), (blocks[1], inputs)])
        if run.fault is not None:
            raise InputError(f"profile {profile.name} does not run random program {n} of seed {seed}: {run.fault.text}")
        simulator = Simulator(image, ENTRY, profile, blocks, model)
        for k in range(calls):
            ours = simulator.call([out[k].tobytes(), inputs[k].tobytes()])
            difference = int(run.cycles[k]) - ours.cycles
            above, below = max(above, difference), max(below, -difference)
            same = ours.returned == run.returned[k] and ours.written["out"] == run.written["out"][k].tobytes()
            wrong += not same
            instructions += ours.instructions
    return Calibration(
        profile=profile.name,
        profile_hash=profile.hash(),
        core=core_version(profile.core),
        model=model.kind,
        programs=programs,
        calls=programs * calls,
        instructions=instructions,
        seed=seed,
        above=above,
        below=below,
        wrong=wrong,
    )


def with_code(image: Image, words: list[int]) -> Image:
    """A linked program with other code in place of its function's."""
    low, data = image.text[0], np.array(words, dtype="<u4").tobytes()
    others = tuple(s for s in image.sections if s.address != low)
    text = LoadedSection(".text", low, data)
    symbols = {**image.symbols, ENTRY: low}
    return replace(image, sections=(*others, text), symbols=symbols, text=(low, low + len(data)))


def _with_constants(image: Image) -> Image:
    """A linked program with constants, ``WORDS`` of them."""
    low = memory_map.CONSTANTS_BASE
    data = np.arange(1, WORDS + 1, dtype="<u4") * np.uint32(0x9E3779B9)
    section = LoadedSection(".rodata", low, data.astype("<u4").tobytes())
    return replace(
        image, sections=(*image.sections, section), constants=(low, low + 4 * WORDS), data_end=low + 4 * WORDS
    )


def _stub(profile: Profile) -> Image:
    """The runner around a function of no interest."""
    with temporary.folder() as folder:
        source = folder / "stub.c"
        source.write_text(STUB)
        policy = compile_policy(source, toolchain(profile), folder=folder)
        return read_image(link_program(policy, ENTRY, profile, folder))


def _records(rng: np.random.Generator, calls: int) -> NDArray[np.void]:
    """Inputs: any word, small words, equal words."""
    words = rng.integers(0, 1 << 32, size=(calls, WORDS), dtype=np.uint32)
    words >>= rng.choice(np.array([0, 0, 16, 29, 31], dtype=np.uint32), size=words.shape)
    return words.astype("<u4").view([("words", "<u4", (WORDS,))]).reshape(-1)

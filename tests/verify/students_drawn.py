"""Ordinary small students, drawn by a number: all features and ratios, all action maps, windows of 1 to 4 decisions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from drawing import ACTIONS, FEATURES, make_student

from bench.drawn.students import tree
from codegen.emit import emit
from codegen.lower import Options
from decision.artefact.output import writing
from decision.policy.actions import Table
from decision.policy.student import Student
from emulator.build import Build
from emulator.firmware_folder import built as build_folder
from emulator.profile import load_profile


@dataclass(frozen=True)
class Drawn:
    """A student, and how it is emitted and compiled."""

    student: Student
    form: str
    compiler: str
    opt: str

    def __str__(self) -> str:
        s = self.student
        kinds = ", ".join(f.kind for f in s.observation.features)
        shape = " ".join(str(t.depth) for t in s.forest.trees)
        how = f"{self.form}, {self.compiler} {self.opt}"
        return f"{kinds}; window {s.observation.window}; {s.action.kind}; depths {shape}; {how}"


def drawn(seed: int, *, gcc: bool = False) -> Drawn:
    """Student number ``seed``."""
    rng = np.random.default_rng([11, seed])
    kinds = [str(k) for k in rng.permutation(list(FEATURES))[: int(rng.integers(1, 5))]]
    action = ACTIONS[int(rng.integers(len(ACTIONS)))]
    window, base_rtt = int(rng.integers(1, 5)), str(rng.choice(["8192 ns", "13 us", "1100 ns"]))
    student = grown(rng, kinds, action, int(rng.integers(1, 7)), window=window, base_rtt=base_rtt)
    compiler = str(rng.choice(["clang", "gcc"])) if gcc else "clang"
    return Drawn(student, str(rng.choice(["auto", "branches", "index", "joint"])), compiler, str(rng.choice(LEVELS)))


def grown(
    rng: np.random.Generator,
    kinds: list[str],
    action: dict[str, Any],
    trees: int,
    *,
    depths: tuple[int, int] = (1, 3),
    window: int = 1,
    base_rtt: str = "8192 ns",
) -> Student:
    """Random trees over features of these kinds."""
    features = [FEATURES[k] for k in kinds]
    empty = make_student(features, action, (), window=window, base_rtt=base_rtt)
    if isinstance(empty.action, Table):
        spread = (len(empty.action.multipliers) << empty.action.leaf_bits) // trees
        low, high = -spread // 4, spread
    else:
        low, high = (2 * limit // trees for limit in empty.action.limits_q16())
    names = empty.forest.features
    drawn_trees = tuple(tree(rng, names, int(rng.integers(depths[0], depths[1] + 1)), low, high) for _ in range(trees))
    bias = int(rng.integers(low, high + 1))
    return make_student(features, action, drawn_trees, window=window, bias=bias, base_rtt=base_rtt)


LEVELS = ("-O1", "-O2", "-Os")


def built(drawn_: Drawn, folder: Path) -> Build:
    """Emitted into ``folder`` and linked for ibex-small."""
    with writing(folder / "student", "student") as work:
        drawn_.student.save(work)
    emit(folder / "student", folder / "firmware", target="bare", options=Options(form=drawn_.form))
    return build_folder(
        folder / "firmware", profile=load_profile("ibex-small"), compiler=drawn_.compiler, opt=drawn_.opt
    )

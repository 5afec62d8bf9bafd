"""The header of the target `host`, compiled, and a learnt policy that it serves."""

import subprocess
from pathlib import Path

from drawing import ACTIONS, FEATURES, make_student, with_window

from decision.ir.forest import Node, oblivious
from decision.policy.student import Student

C99 = ("cc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror")
CPP17 = ("c++", "-std=c++17", "-x", "c++", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


def compiled(source: str, include: Path, place: Path, compiler: tuple[str, ...] = C99) -> Path:
    file = place / "main.c"
    file.write_text(source)
    subprocess.run([*compiler, f"-I{include}", str(file), "-o", str(place / "main")], check=True)
    return place / "main"


FALLING = tuple(oblivious(((0, 900), (1, 60_000)), (-9000, -300, -400, -2000)[:: 1 if k else -1]) for k in range(3))


def learnt_student(trees: tuple[Node, ...] = FALLING) -> Student:
    """A policy that scales a rate and sets a window by it. Its trees compare the last action and the congestion."""
    features = [FEATURES[kind] for kind in ("previous_action", "rl_cc_congestion")]
    return with_window(make_student(features, ACTIONS[0], trees, window=2))

"""Common parts of the methods that remember transitions and learn from batches of them, round by round."""

from dataclasses import fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decision.artefact import manifest
from decision.artefact.errors import InputError
from teachers.networks import torch
from teachers.transitions import Transitions

PARTS = tuple(part.name for part in fields(Transitions))


class ReplayMemory:
    """The last transitions, at most so many; ``stored``: the arrays, as a checkpoint holds them."""

    def __init__(self, most: int, stored: Transitions | None = None) -> None:
        self.most, self.stored = most, stored

    def add(self, new: Transitions) -> None:
        parts = [new] if self.stored is None else [self.stored, new]
        self.stored = Transitions(*(np.concatenate([getattr(p, n) for p in parts])[-self.most :] for n in PARTS))

    def __len__(self) -> int:
        return 0 if self.stored is None else len(self.stored)

    def batch(self, size: int, random: np.random.Generator) -> list["torch.Tensor"]:
        assert self.stored is not None
        drawn = part_of(self.stored, random.integers(0, len(self.stored), size))
        return [torch.from_numpy(getattr(drawn, name)) for name in PARTS]


def part_of(rows: Transitions, chosen: NDArray[np.int64]) -> Transitions:
    return Transitions(*(getattr(rows, name)[chosen] for name in PARTS))


def check_place(out: Path) -> None:
    """InputError where no teacher can be written."""
    if out.exists() and not (out.is_dir() and (not any(out.iterdir()) or (out / manifest.NAME).exists())):
        raise InputError(f"{out} is not an empty folder or a teacher; name another place before training for nothing")


def seed_of(seed: int, number: int, index: int) -> int:
    """Returns the seed of a scenario in a round."""
    return int(np.random.SeedSequence([seed, number, index]).generate_state(1)[0])

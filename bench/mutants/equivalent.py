"""Mutants that behave as the original does, or whose difference is no claim: a reviewed list with a reason each.

An entry is known by the text of its line and of the change, not by a number, so that it moves with the code:

    [[equivalent]]
    file = "verify/check/walk.py"
    line = "if lane.steps > MAX_STEPS:"
    mutants = ["lane.steps > MAX_STEPS -> lane.steps >= MAX_STEPS"]
    reason = "..."
"""

import tomllib
from collections.abc import Iterable
from pathlib import Path

from bench.mutants.children import Fate
from bench.mutants.draw import Mutant

LIST = Path(__file__).with_name("equivalent.toml")
Key = tuple[str, str, str]


def key(mutant: Mutant) -> Key:
    """File, line, change."""
    return mutant.file, mutant.line, change(mutant)


def change(mutant: Mutant) -> str:
    becomes = mutant.becomes
    if becomes.startswith("(") and becomes.endswith(")") and not mutant.was.startswith("("):
        becomes = becomes[1:-1]
    return f"{mutant.was} -> {becomes}"


def read(path: Path = LIST) -> dict[Key, str]:
    """Reason by mutant."""
    entries = tomllib.loads(path.read_text())["equivalent"] if path.is_file() else []
    reasons = {}
    for entry in entries:
        for text in entry["mutants"]:
            assert entry["reason"].strip(), f"{path}: {text} has no reason"
            reasons[entry["file"], entry["line"], text] = entry["reason"]
    return reasons


def rotten(listed: dict[Key, str], fates: Iterable[Fate], whole_files: set[str]) -> list[str]:
    """Entries that no longer are: killed, or (in files that were run as a whole) not drawn any more."""
    fates = list(fates)
    killed = {key(fate.mutant) for fate in fates if fate.state != "survived"}
    drawn = {key(fate.mutant) for fate in fates}
    survived = {key(fate.mutant) for fate in fates if fate.state == "survived"}  # two of a line may be written alike
    sentences = [
        f"{file}: {text}: a test kills it" for file, line, text in listed if (file, line, text) in killed - survived
    ]
    sentences += [
        f"{file}: {text}: there is no such mutant of {line!r}"
        for file, line, text in listed
        if file in whole_files and (file, line, text) not in drawn
    ]
    return sentences

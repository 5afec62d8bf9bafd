"""Figures that a command printed, by stage: for tests that look at a key and not at a sentence."""

import re


def stages(output: str) -> list[str]:
    """Returns the names of the stages in their order."""
    return re.findall(r"(?m)^([a-z]+)  [0-9]+\.[0-9] s$", output)


def figures(output: str, stage: str) -> dict[str, str]:
    """Returns key and value of each figure of the last stage of this name."""
    (found,) = re.findall(rf"(?m)^{stage}  [0-9]+\.[0-9] s\n((?:  .*\n?)*)", output)[-1:]
    values: dict[str, str] = {}
    for line in found.splitlines():
        if line.startswith("   "):
            values[list(values)[-1]] += f" {line.strip()}"
        else:
            key, _, value = line.strip().partition("  ")
            values[key] = value.strip()
    return values


def outcome(output: str) -> str:
    """Returns the line of a verdict's outcome, policy and engine."""
    (found,) = re.findall(r"(?m)^(?:PASS|QUICK PASS|FAIL)  .*$", output)
    return str(found)

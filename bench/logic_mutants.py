"""Mutants of an emitted module in Verilog: is every one refuted by the proof of equality?

    python -m bench.logic_mutants FIRMWARE [PLACES]     a line a mutant: places, refuted, not decided, proved equal

FIRMWARE is a folder of `rlcc emit --target rtl`. Each mutant is tried at up to PLACES places (3), spread over the file.
A change can leave the function as it is, for instance a bit that is always 0: then the proof holds, and the line
counts it as proved equal.
"""

import argparse
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from decision.artefact.manifest import opened
from decision.ir.program import Program
from decision.ir.program_json import program_from_json
from emulator.firmware import prefix_of, under
from verify.rtl.equality import prove
from verify.rtl.netlist import Refuted, read
from verify.rtl.simulate import FOLDER, MODULE
from verify.terms.bits import LogicUndecided


@dataclass(frozen=True)
class LogicMutant:
    """``pattern``: where a module can be changed; ``change``: the text that stands there instead."""

    name: str
    pattern: str
    change: Callable[[re.Match[str]], str]

    def places(self, text: str) -> list[re.Match[str]]:
        """Returns the places in a module."""
        return list(re.finditer(self.pattern, text, re.MULTILINE))

    def applied(self, text: str, place: re.Match[str]) -> str:
        """Returns the module with one place changed."""
        return text[: place.start()] + self.change(place) + text[place.end() :]


def _older(found: re.Match[str]) -> str:
    """A register that takes what is a stage older."""
    stage, name, source = int(found[1]), found[2], int(found[3])
    return f"s{stage}_{name} <= {f's{source - 1}_' if source > 1 else ''}{name};"


MUTANTS = (
    LogicMutant("narrower_wire", r"wire \[(\d+):0\] (n\d+_\w+) = ", lambda m: f"wire [{int(m[1]) - 1}:0] {m[2]} = "),
    LogicMutant("lowest_digit", r"= \((\w+\[\d\]) ([&|]) ", lambda m: f"= ({m[1]} {'&' if m[2] == '|' else '|'} "),
    LogicMutant("upper_digits", r"== (\d+)'d(\d+);", lambda m: f"== {m[1]}'d{int(m[2]) ^ 1};"),
    LogicMutant("missed_register", r"= s1_(\w+)(?=[\[; ])", lambda m: f"= {m[1]}"),
    LogicMutant("swapped_stage", r"s(\d+)_(\w+) <= s(\d+)_\2;$", _older),
    LogicMutant("table_entry", r"(\d+'d\d+: \w+ = \d+'d)(\d+);", lambda m: f"{m[1]}{int(m[2]) ^ 1};"),
    LogicMutant("no_reset", r"if \(rst\) valid <= ", lambda _: "if (1'b0) valid <= "),
    LogicMutant("always_moving", r"^    if \(step\) begin", lambda _: "    if (1'b1) begin"),
    LogicMutant("always_ready", r"assign in_ready = step;", lambda _: "assign in_ready = 1'b1;"),
    LogicMutant("wrong_operator", r"(event_response_ns\}) - ", lambda m: f"{m[1]} + "),
    LogicMutant("clamp_end", r"\? (\d\d+)'d([1-9]\d*) : ", lambda m: f"? {m[1]}'d{int(m[2]) - 1} : "),
)


def outcome(text: str, module: str, program: Program) -> str:
    """Returns what the proof gives: "refuted", "not decided" or "proved equal"."""
    try:
        prove(read(text.encode(), module), program)
    except Refuted:
        return "refuted"
    except LogicUndecided:
        return "not decided"
    return "proved equal"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("firmware", type=Path)
    parser.add_argument("places", type=int, nargs="?", default=3)
    options = parser.parse_args(arguments)
    firmware = opened(options.firmware, "firmware")
    name = under(prefix_of(firmware), MODULE)
    text = firmware.content(f"{FOLDER}/{name}").decode()
    program = program_from_json(firmware.json("program.json"))
    for mutant in MUTANTS:
        places = mutant.places(text)
        count = min(options.places, len(places))
        chosen = [places[k * len(places) // count] for k in range(count)]
        fates = Counter(outcome(mutant.applied(text, one), name.removesuffix(".v"), program) for one in chosen)
        figures = ", ".join(f"{number} {fate}" for fate, number in fates.items())
        print(f"{mutant.name:16} {len(places)} places: {figures or 'none'}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

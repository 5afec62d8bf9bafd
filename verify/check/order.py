"""Knobs in order, asked of a solver: with any sums of the trees, can a knob lie below the one that it may not?"""

from collections.abc import Mapping

from decision.ir.interpret import evaluate
from decision.ir.program import Op, Program
from verify.check.meaning import Meaning, free_range
from verify.check.path_facts import Known, Oracle, bounded
from verify.check.refused import Refused
from verify.check.solver import Undecided
from verify.check.terms import make, var
from verify.trusted import wording
from verify.trusted.certificate import FindingClaim, PropertyClaim


def order_again(claim: PropertyClaim, program: Program) -> None:
    """Refused where a finding is not of a pair that the interface names, or is not so, or its witness shows none."""
    pairs = [(knob.name, knob.not_below) for knob in program.interface.knobs if knob.not_below is not None]
    wanted = [wording.ordered(knob, str(floor)) for knob, floor in pairs]
    if [finding.says for finding in claim.findings] != wanted:
        raise Refused(f"ascending is asked of {', '.join(wanted) or 'no knob'}; the certificate speaks of others")
    for finding, (knob, floor) in zip(claim.findings, pairs, strict=True):
        if finding.verdict == "holds":
            if (finding.value, finding.witness) != ("for all inputs", {}) or not _always(program, knob, str(floor)):
                raise Refused(f"{finding.says}: that was not found again")
        elif finding.verdict != "fails" or finding.value != _shown(program, finding, knob, str(floor)):
            raise Refused(f"{finding.says}: the witness does not show it")


def _always(program: Program, knob: str, floor: str) -> bool:
    """Whether no sums of the trees make ``knob`` less than ``floor``."""
    results = dict(zip(program.interface.knob_names, program.results, strict=True))
    free = frozenset(f"node.{n}" for n, node in enumerate(program.nodes) if node.op is Op.TREES)
    known = Known({var(name): bounded(*free_range(program, name)) for name in free})
    meaning = Meaning(program, free, lambda condition: condition, known.product)
    below = make("bvslt", meaning.wide(results[knob]), meaning.wide(results[floor]))
    try:
        return Oracle().impossible([below, *known.about(below)], known)
    except Undecided:
        return False


def _shown(program: Program, finding: FindingClaim, knob: str, floor: str) -> str:
    """Returns the knobs that the program sets on the witness, as a failing finding states them; empty if they are in
    order."""

    def group(name: str) -> Mapping[str, int]:
        fields = {key.partition(".")[2]: value for key, value in finding.witness.items() if key.startswith(f"{name}.")}
        return fields

    names = {"event": program.interface.event_names, "params": program.interface.param_names}
    names["context"] = tuple(field.name for field in program.state)
    if set(finding.witness) != {f"{struct}.{name}" for struct, each in names.items() for name in each}:
        return ""
    values = evaluate(program, group("event"), group("params"), group("context"))[0]
    made = dict(zip(program.interface.knob_names, (value.item() for value in values), strict=True))
    return f"{made[knob]} below {made[floor]}" if made[knob] < made[floor] else ""

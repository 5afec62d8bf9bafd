"""Properties of a policy, decided by two programs: what the checker does not find again is not decided."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from emulator.firmware import Firmware
from verify.behaviour.decide import Behaviour, claim_of, decide
from verify.behaviour.finding import Finding
from verify.check.behaviour import Policy
from verify.check.refused import Refused
from verify.trusted.properties import Property


def decided_twice(
    firmware: Firmware, asked: Iterable[Property], progress: Callable[[str], None] | None = None
) -> Behaviour:
    """Returns the prover's findings; those of a property that the checker refuses are undecided, with its reason.
    InputError as of ``verify.behaviour.decide.decide``."""
    found, checker = decide(firmware, asked, progress), Policy(firmware)
    return replace(found, answers=tuple((one, _confirmed(checker, one, findings)) for one, findings in found.answers))


def _confirmed(checker: Policy, asked: Property, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    if any(finding.verdict == "undecided" for finding in findings):
        return findings
    try:
        checker.decide(claim_of(asked, findings))
        return findings
    except Refused as error:
        why = f"not found again by the checker: {error}"
    except Exception as error:  # a defect of the checker is no reason to believe
        why = f"the checker cannot judge it: {type(error).__name__}: {error}"
    return tuple(Finding(finding.kind, finding.says, "undecided", why) for finding in findings)

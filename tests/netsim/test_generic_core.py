"""What decides, when and with what delay knows no agent's fields: those have names at the sites only."""

import re
from pathlib import Path

import pytest

from decision.interfaces.flow_rate import FLOW_RATE
from decision.interfaces.queue_marking import QUEUE_MARKING

CORE = Path(__file__).parents[2] / "netsim/core"
GENERIC = (
    "cohort.cpp", "cohort.hpp", "cohort_at.hpp", "contexts.hpp",
    "decider.hpp", "decider_compiled.cpp", "decider_compiled.hpp",
    "decider_core.cpp", "decider_core.hpp", "decider_fixed.hpp", "decider_native.cpp", "decider_native.hpp",
    "decider_program.cpp", "decider_program.hpp", "engine.cpp", "engine.hpp", "loop.hpp", "program.cpp", "program.hpp",
    "records.hpp", "site.hpp", "tape.cpp", "tape.hpp",
)  # fmt: skip
FIELDS = {
    name
    for interface in (FLOW_RATE, QUEUE_MARKING)
    for name in (*interface.event_names, *interface.param_names, *interface.knob_names)
}
WORDS = re.compile(rf"\b({'|'.join(sorted(FIELDS))}|flows?|rates?|cnps?|nacks?|rtts?|kmin|kmax|pmax)\b")
SITES = re.compile(r"//.*|\bFlowSite\b|\"flow_site\.hpp\"")  # comments may give examples


def named(source: str) -> list[str]:
    """Words of one interface in C++, identifiers taken apart at underscores too."""
    code = SITES.sub("", source)
    whole = WORDS.findall(code)
    return whole + WORDS.findall(code.replace("_", " "))


@pytest.mark.parametrize("name", GENERIC)
def test_a_generic_part_of_the_core_names_no_field(name: str) -> None:
    assert named((CORE / name).read_text()) == []


def test_the_sites_do() -> None:
    """So that the test above can fail."""
    assert "cnp_count" in named((CORE / "flow_site.cpp").read_text())
    assert "kmin_bytes" in named((CORE / "queue_site.cpp").read_text())
    assert named("double rate_of(Flow);") == ["rate"]

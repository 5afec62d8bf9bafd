"""No generic module names a flow, a field of an event, or a rate: interfaces say them, as data."""

import io
import re
import tokenize
from pathlib import Path

import pytest

from decision.ir.interfaces import INTERFACES

ROOT = Path(__file__).resolve().parents[2]
FIELDS = {
    signal.name
    for interface in INTERFACES.values()
    for signals in (interface.event, interface.params, interface.knobs, interface.context)
    for signal in signals
}
NAMES = {interface.name for interface in INTERFACES.values()} | {name.upper() for name in INTERFACES}
WORDS = FIELDS | NAMES | {"flow", "rate"}
PARTS = {"flow", "flows", "rate", "rates", "cnp", "cnps", "nack", "nacks", "rtt", "rtts", "kmin", "kmax", "pmax"}
"""Of identifiers of the simulator's core, taken apart at their underscores."""

CORE = (
    *(
        "site",
        "site_kind",
        "cohort",
        "cohort_at",
        "contexts",
        "engine",
        "loop",
        "program",
        "records",
        "tape",
        "decider",
    ),
    *("decider_compiled", "decider_core", "decider_fixed", "decider_native", "decider_program"),
)
DECISION = (
    *("artefact/documents", "artefact/errors", "artefact/manifest"),
    *(
        "ir/argmax",
        "ir/expression",
        "ir/forest",
        "ir/formats",
        "ir/interpret",
        "ir/network",
        "ir/network_json",
        "ir/tape",
    ),
    *("policy/model", "policy/weights", "policy/actions/action", "policy/actions/choice", "policy/actions/level"),
    "policy/features/generic",
)
DISTILL = ("dataset", "quantise", "state_samples")
GENERIC = sorted(
    path
    for path in [
        *(p for package in ("codegen", "emulator", "verify") for p in (ROOT / package).rglob("*.[cphS]*")),
        *(ROOT / "netsim" / "core" / f"{name}.{end}" for name in CORE for end in ("cpp", "hpp")),
        *(ROOT / "decision" / f"{name}.py" for name in DECISION),
        *(ROOT / "distill" / f"{name}.py" for name in DISTILL),
    ]
    if path.suffix in (".py", ".cpp", ".hpp", ".S", ".c") and path.is_file()
)
FLOW_SITE = {"FlowSite", "flow_site"}
"""The site by its own name, which whoever asks for it says."""
EXCEPT = {
    "codegen/frontends/gbrl_binary.py": "the learning rate of a model's trees",
    "codegen/frontends/gbrl_trees.py": "the learning rate of a model's trees",
    "codegen/targets.py": "adapters of devices, each of which hands over the events of one interface",
    "codegen/tree_body.py": "a parameter whose default is told as the base RTT that it is the reciprocal of",
    "codegen/tuning.py": "what an operator sets of the devices of flows",
    "codegen/networks/body.py": "the same parameter; and int8 networks decide for flows only",
    "codegen/networks/recorded_decisions.py": "int8 networks decide for flows only: their recorded decisions",
    "codegen/networks/quantise.py": "int8 networks decide for flows only: the steps of their features",
    "codegen/networks/vectors.py": "int8 networks decide for flows only: walks near their point of rest",
    "emulator/bench/job.hpp": "the state of caches that is called other-flow",
    "emulator/fast/machine.py": "the state of caches that is called other-flow",
    "emulator/job.py": "the state of caches that is called other-flow",
    "emulator/linux/cell.py": "TCP's flows in a real kernel",
    "emulator/linux/guest/bed.c": "TCP's flows in a real kernel",
    "verify/adapter/connectx6dx.py": "the rate that a flow's adapter hands to the device",
    "verify/adapter/doca_pcc.py": "the rate that a flow's adapter hands to the device",
    "verify/adapter/falcon_rue.py": "the window of the rate that a flow's adapter hands to the device",
    "verify/adapter/policy.py": "what a flow's adapter counts",
    "verify/adapter/transition.py": "the rate that a flow's adapter hands to the device",
    "verify/behaviour/decide.py": "of policies that scale a rate",
    "verify/behaviour/loops.py": "what flows come to that a policy scales the rate of",
    "verify/trusted/properties.py": "the vocabulary, also of flows",
    "verify/check/cells.py": "the multiplier of a rate, in every cell",
    "verify/check/loops.py": "what flows come to that a policy scales the rate of, found again",
    "verify/check/path.py": "what such a flow is told on a path of one delay",
    "verify/trusted/wording.py": "sentences of properties, also of flows",
    "emulator/states.py": "the state of caches that is called other-flow",
}


WINDOWS = {
    "decision": ({"flow_window", "FLOW_WINDOW"}, {"flow_window.py", "nscc.py"}),
    "netsim": (
        {"flow_window", "FLOW_WINDOW", "WindowPaths", "has_windows", "WindowSite"},
        {"window_site.cpp", "window_site.hpp"},
    ),
    "codegen": ({"flow_window", "HOST", "divides", "HostPrinter"}, {"host_printer.py"}),
}
"""Flows with windows, by package: words of their interface, site and target, and the files that are theirs alone."""
WINDOW_FILES = {
    "decision": {"ir/interfaces/flow_rate.py", "policy/in_flight.py"},
    "netsim": {"assembly.py", "policies.py", "sites.py"},
    "codegen": {"render.py", "targets.py"},
}


def words_of(path: Path) -> set[str]:
    """Identifiers, and the words of texts, without comments and docstrings."""
    text = path.read_text()
    if path.suffix != ".py":
        bare = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
        return set(re.findall(r"\w+", bare)) - FLOW_SITE
    found: set[str] = set()
    previous = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        docstring = token.type == tokenize.STRING and previous in (tokenize.NEWLINE, tokenize.INDENT, tokenize.ENCODING)
        if token.type in (tokenize.NAME, tokenize.STRING) and not docstring:
            found |= set(re.findall(r"\w+", token.string))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            previous = token.type
    return found


@pytest.mark.parametrize("path", GENERIC, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_generic_module_names_no_tenant(path: Path) -> None:
    words = words_of(path)
    named = words & WORDS
    if path.parent == ROOT / "netsim" / "core" and path.stem != "site_kind":  # what a site is made with: the flows
        named |= {part for word in words for part in word.split("_")} & PARTS
    if str(path.relative_to(ROOT)) in EXCEPT:
        assert named, "needs no exception any more"
    else:
        assert not named, f"{path.relative_to(ROOT)} names {', '.join(sorted(named))}"


def test_the_search_finds_what_it_looks_for() -> None:
    """In the sites, which do know their tenants."""
    assert len(GENERIC) > 100
    assert {"flow"} <= words_of(ROOT / "netsim" / "core" / "flow_site.cpp")
    assert {"kmin_bytes"} <= words_of(ROOT / "netsim" / "core" / "queue_site.cpp")
    assert {path.stem for path in GENERIC} >= {*CORE, *DISTILL}
    assert {f"{path.relative_to(ROOT / 'decision')}" for path in GENERIC if "decision" in path.parts} == {
        f"{name}.py" for name in DECISION
    }
    assert {"rate_q30", "response_ns"} <= words_of(ROOT / "decision" / "ir" / "interfaces" / "flow_rate.py")
    assert "docstring" not in words_of(Path(__file__)) - {"docstring"}


@pytest.mark.parametrize("package", WINDOWS)
def test_windows_are_known_to_few_files_besides_their_own(package: str) -> None:
    words, own = WINDOWS[package]
    place = ROOT / package
    files = [path for path in place.rglob("*.*") if path.suffix in (".py", ".cpp", ".hpp") and path.name not in own]
    naming = {f"{path.relative_to(place)}" for path in files if words & words_of(path)}
    assert naming == WINDOW_FILES[package]
    assert len(naming) <= 3

"""Finds the saved settings of a card that hinder a DOCA PCC algorithm, without the card: `rlcc doctor --card FILE`.

    mlxconfig -d DEVICE -e query > card.txt        (or mstconfig; without -e the file has the next boot's values only)

Each rule is a setting with which a policy silently does not run, hears nothing, or shares one context among queue pairs
(decision/devices/bluefield3.toml). Sources: DOCA's documentation of PCC, the settings' own descriptions in mlxconfig,
and public records of cards on which a setting was found to be the reason.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from decision.artefact.documents import read_text
from decision.artefact.errors import InputError

HEADING = re.compile(r"^Configurations:\s+(.*\S)\s*$")
SETTING = re.compile(r"^\*?\s+([A-Z][A-Z0-9_]*)\s+(\S.*?)\s*$")
NUMBER = re.compile(r"\((\d+)\)$|^(0[xX][0-9a-fA-F]+|\d+)$")
COLUMNS = ("default", "current", "next boot")
SAVED_BY = "save one by `mlxconfig -d DEVICE -e query > FILE` (or mstconfig)"

Effect = Literal["does not run", "hears nothing", "shares contexts"]


@dataclass(frozen=True)
class CardRule:
    """A setting (``ports``: one a port, with _P1 and _P2 behind its name) and the numbers with which all is well; None:
    every number but 0. ``unsaid``: whether a query that does not name it is itself a finding."""

    setting: str
    wanted: frozenset[int] | None
    effect: Effect
    reason: str
    mend: str
    ports: bool = False
    unsaid: bool = False


RULES = (
    CardRule(
        "USER_PROGRAMMABLE_CC",
        frozenset({1}),
        "does not run",
        "the firmware's own algorithm decides, and the slot of the policy is never called",
        "mlxconfig -d DEVICE set USER_PROGRAMMABLE_CC=1",
        unsaid=True,
    ),
    CardRule(
        "DPA_AUTHENTICATION",
        frozenset({0}),
        "does not run",
        "the DPA takes images only that are signed by a key it trusts",
        "sign the image, or mlxconfig -d DEVICE set DPA_AUTHENTICATION=0",
    ),
    CardRule(
        "LINK_TYPE",
        frozenset({2}),
        "does not run",
        "the port is not Ethernet, so it carries no RoCE",
        "mlxconfig -d DEVICE set LINK_TYPE_{port}=2",
        ports=True,
    ),
    CardRule(
        "ROCE_CC_PRIO_MASK",
        None,
        "does not run",
        "congestion control is off for every priority of the port",
        "mlxconfig -d DEVICE set ROCE_CC_PRIO_MASK_{port}=255",
        ports=True,
    ),
    CardRule(
        "PCC_INT_EN",
        frozenset({0}),
        "hears nothing",
        "RTT requests are not answered while telemetry of switches is asked for: CNPs come, RTT events never",
        "mlxconfig -d DEVICE set PCC_INT_EN=0",
    ),
    CardRule(
        "ROCE_CC_SHAPER_COALESCE",
        frozenset({2}),
        "shares contexts",
        "queue pairs share one context and one rate: each is given that rate, and their answers all reach one decision",
        "mlxconfig -d DEVICE set ROCE_CC_SHAPER_COALESCE_{port}=SOURCE_QP, or a policy with once_per_rtt = true",
        ports=True,
        unsaid=True,
    ),
)


@dataclass(frozen=True)
class CardFinding:
    """One setting and what is wrong with it. ``value``: as the query says it; empty: it does not say it."""

    setting: str
    value: str
    effect: Effect | Literal["not live"]
    reason: str
    mend: str


def read_card(path: Path) -> list[CardFinding]:
    """Returns what a saved query shows, in the order of ``RULES``. InputError where the file is no query of mlxconfig,
    or holds several cards."""
    return list(findings(settings_of(read_text(path), str(path))))


def settings_of(text: str, where: str) -> dict[str, dict[str, str]]:
    """Returns the values of each setting by column: ``default``, ``current``, ``next boot``."""
    headings = [match for line in text.splitlines() if (match := HEADING.match(line))]
    if not headings:
        raise InputError(f"{where} is no query of a card's settings; {SAVED_BY}")
    if len(headings) > 1:
        raise InputError(f"{where} holds the settings of {len(headings)} cards; {SAVED_BY}, one card a file")
    columns = re.split(r"\s{2,}", headings[0][1].lower())
    if not columns or any(column not in COLUMNS for column in columns) or "next boot" not in columns:
        raise InputError(f"{where} has the columns {', '.join(columns)}; {SAVED_BY}")
    settings: dict[str, dict[str, str]] = {}
    for line in text[text.index(headings[0][0]) + len(headings[0][0]) :].splitlines():
        match = SETTING.match(line)
        values = match[2].split() if match else []
        if match and len(values) == len(columns):
            settings[match[1]] = dict(zip(columns, values, strict=True))
    if not settings:
        raise InputError(f"{where} names no setting; {SAVED_BY}")
    return settings


def findings(settings: Mapping[str, Mapping[str, str]]) -> Iterator[CardFinding]:
    """Yields what is wrong, each rule in turn. A value that a reset has yet to make live is named as such."""
    for rule in RULES:
        names = [rule.setting + suffix for suffix in (("_P1", "_P2") if rule.ports else ("",))]
        present = [name for name in names if name in settings]
        if not present and rule.unsaid:
            yield CardFinding(rule.setting, "", rule.effect, f"the query does not name it: {rule.reason}", SAVED_BY)
        for name in present:
            values = settings[name]
            live = values.get("current", values["next boot"])
            if not _well(rule, values["next boot"]):
                yield CardFinding(name, values["next boot"], rule.effect, rule.reason, _mend(rule, name))
            elif not _well(rule, live):
                reason = f"is {live} until the card is reset or loses power; until then: {rule.reason}"
                yield CardFinding(name, values["next boot"], "not live", reason, "mlxfwreset -d DEVICE -l 3 reset")


def _well(rule: CardRule, value: str) -> bool:
    match = NUMBER.search(value)
    if match is None:
        return False
    number = int(match[1] or match[2], 0 if match[2] and match[2][:2].lower() == "0x" else 10)
    return number != 0 if rule.wanted is None else number in rule.wanted


def _mend(rule: CardRule, name: str) -> str:
    return rule.mend.format(port=name[-2:])

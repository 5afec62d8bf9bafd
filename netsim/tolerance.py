"""How far one policy's network may be from another's, in any of its metrics.

Both ran the same scenario with the same seed: who talks to whom, and where every flow begins, is drawn from it.

±0.01      of the metric, either way          +5 %     more than the reference has, by 5 % of that; less is allowed
-0.1       less than the reference has        any      not judged
+0.0001 or 2 %    more, by 0.0001 or by 2 % of what the reference has, whichever is more
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import inf, isnan, nan

from decision.artefact.errors import InputError
from decision.artefact.suggest import alike
from netsim.metric_names import METRICS

WORDS = {"latency": "latency_mean_us", "fairness": "jain"}
"""Short names of metrics."""

NUMBER = r"[0-9]{1,15}(\.[0-9]{1,30})?(e-?[0-9]{1,2})?"
ALLOWED = re.compile(rf"(?P<sign>±|\+/?-|\+|-) ?(?P<number>{NUMBER}) ?(?P<percent>%?)")
SHARE = re.compile(rf"(?P<number>{NUMBER}) ?%")


@dataclass(frozen=True)
class Allowance:
    """How far ``metric`` may be off a reference's: either way (±), above it (+) or below it (-), by ``most`` at most;
    ``relative``: as a part of the reference's. ``share``: or by that part of the reference's, where this is more."""

    metric: str
    sign: str
    most: float
    relative: bool = False
    share: float = 0.0

    def limit(self, reference: Mapping[str, float]) -> float:
        """Returns the difference that is allowed for this reference."""
        part = self.share * reference.get(self.metric, nan)
        return max(self.most, part) if part > 0 else self.most

    def difference(self, metrics: Mapping[str, float], reference: Mapping[str, float]) -> float:
        """Positive: more than the reference has. NaN where one of the two could not be measured."""
        base = reference.get(self.metric, nan)
        more = metrics.get(self.metric, nan) - base
        if not self.relative:
            return more
        return more / base if base > 0 else 0.0 if more == 0 else nan

    def off(self, difference: float) -> float:
        """The part of a difference that is judged; negative on the side that is not."""
        return abs(difference) if self.sign == "±" else difference if self.sign == "+" else -difference

    def times(self, difference: float, reference: Mapping[str, float]) -> float:
        """How many times what is allowed; NaN of NaN."""
        off, most = self.off(difference), self.limit(reference)
        if most > 0 or isnan(off):
            return off / most if most > 0 else nan
        return inf if off > 0 else 0.0

    def text(self) -> str:
        """As ``allowance`` reads it, to the last bit."""
        number = Decimal(repr(self.most))
        part = f" or {_percent(self.share)}" if self.share else ""
        return f"{self.sign}{_percent(self.most)}" if self.relative else f"{self.sign}{number:f}{part}"


def _percent(share: float) -> str:
    return f"{(Decimal(repr(share)) * 100).normalize():f} %"


Tolerance = Mapping[str, Allowance]
"""By the name that whoever asks gives a metric."""

DEFAULT: Tolerance = {
    "goodput": Allowance("goodput", "±", 0.005),
    "latency": Allowance("latency_mean_us", "±", 0.01, relative=True),
    "fairness": Allowance("jain", "-", 0.1),
    "loss": Allowance("loss", "+", 0.0001, share=0.02),
}
"""[RLCC] table 2 has at most 0.01 of goodput and 1.3 % of latency between MLP and trees; half of the one and less than
the other is asked here. A student that decides otherwise is not its teacher, so these two count either way; of fairness
only less fails, of loss only more: where the teacher loses nothing next to nothing, elsewhere a fiftieth of that."""


def allowance(name: str, text: str) -> Allowance | None:
    """Returns what ``text`` allows of the metric ``name``; None: anything."""
    metric = _metric(name)
    if text == "any":
        return None
    first, _, second = text.partition(" or ")
    read, share = ALLOWED.fullmatch(first), SHARE.fullmatch(second or "0 %")
    if read is None or share is None or (second and read["percent"]):
        raise InputError(
            f'{text!r} is no tolerance; write "±0.01", "+5 %", "-0.1" or "+0.0001 or 2 %", or "any" where it is not '
            "judged"
        )
    number, part = Decimal(read["number"]), Decimal(share["number"])
    sign = read["sign"] if read["sign"] in ("+", "-") else "±"
    relative = bool(read["percent"])
    return Allowance(metric, sign, float(number / 100 if relative else number), relative, float(part / 100))


def tolerance(allowed: Mapping[str, object]) -> dict[str, Allowance]:
    """The default with what is said otherwise: a text for any metric, or a number (0 to 1) for one of the default's,
    which keeps its sides. InputError names the metric that is wrong."""
    read = dict(DEFAULT)
    twice = next((word for word, metric in WORDS.items() if word in allowed and metric in allowed), None)
    if twice is not None:
        raise InputError(f"{twice} and {WORDS[twice]} are one metric; give one of them")
    usual = {metric: word for word, metric in WORDS.items()}
    for given, what in allowed.items():
        name = usual.get(given, given)
        try:
            one = what if isinstance(what, Allowance) else _read(name, what)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        read.pop(name, None) if one is None else read.update({name: one})
    return read


def _metric(name: str) -> str:
    """The metric of this name, or of this short one."""
    metric = WORDS.get(name, name)
    if metric not in METRICS:
        near = alike(name, [*WORDS, *METRICS])
        mend = f"did you mean {near}?" if near else "docs/explanation/netsim.md lists those there are"
        raise InputError(f"there is no metric {name!r}; {mend}")
    return metric


def _read(name: str, what: object) -> Allowance | None:
    _metric(name)
    if isinstance(what, str):
        return allowance(name, what)
    usual = DEFAULT.get(name)
    if isinstance(what, bool) or not isinstance(what, int | float) or (usual is not None and not 0 <= what <= 1):
        raise InputError(f'{what!r} is no tolerance; give a number from 0 to 1, or a text such as "±0.01" or "+5 %"')
    if usual is None:
        raise InputError(f'a number alone says neither which way nor of what; write "±{what:g}", "+{what:g} %" or so')
    return Allowance(usual.metric, usual.sign, float(what), usual.relative)

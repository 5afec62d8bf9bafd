"""A hand-written algorithm as a decider: a document with its name and settings, from which its program is built.

    format = 1
    name = "nscc-100g"
    algorithm = "nscc"
    mtu = "4096 B"
    line_rate = "100 Gb/s"
    base_rtt = "12 us"

``rlcc emit FILE.toml`` writes its firmware. There the same document is ``algorithm.json``.
"""

import tomllib
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import Field

from decision.artefact.documents import Format1, dump_json, parse_json, parse_toml, read_bytes, read_text, validate
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.artefact.quantity_fields import DurationNs, RateBps, SizeBytes
from decision.artefact.strict import Strict
from decision.ir.program import Program
from decision.policy.nscc import MIN_PACKET, NsccPath, NsccSteps, nscc_params, nscc_program
from decision.policy.policy import POLICY_NAME

NAME = "algorithm.json"


class Algorithm(Strict):
    """The document. Keys of the network have no default; those of the algorithm have its source's."""

    format: Format1
    """Format version of the file."""
    name: str = Field(pattern=POLICY_NAME)
    """Name of the algorithm with these settings."""
    algorithm: Literal["nscc"]
    """Which one it is."""
    mtu: SizeBytes = Field(ge=MIN_PACKET, le=2**16)
    """Payload of a packet."""
    line_rate: RateBps = Field(gt=0, le=10**13)
    """Rate of the sender's port."""
    base_rtt: DurationNs = Field(gt=0)
    """RTT in an empty network."""
    target: float = Field(default=NsccSteps.target, gt=0, le=1024)
    """Queueing delay to aim at, in base RTTs."""
    window_max: float = Field(default=NsccSteps.window_max, gt=0, le=1024)
    """Largest window, in BDPs."""
    proportional_step: float = Field(default=NsccSteps.proportional_step, ge=0, le=1024)
    """Increase at no delay, in packets an RTT of a path of 150 KB with a target of 12 us; grows with the BDP and the
    target."""
    fair_step: float = Field(default=NsccSteps.fair_step, ge=0, le=1024)
    """Increase at the target and above, in packets an RTT of a path of 150 KB; grows with the BDP."""
    steady_step: float = Field(default=NsccSteps.steady_step, ge=0, le=1024)
    """Increase at any delay, in the same unit."""
    fast_share: float = Field(default=NsccSteps.fast_share, ge=0, le=1024)
    """Increase where there is no delay, as a share of what is acknowledged on a path of 150 KB; grows with the BDP."""
    adjust_packets: float = Field(default=NsccSteps.adjust_packets, ge=0, le=1024)
    """Packets acknowledged after which increases take effect."""
    quick_delay: float = Field(default=NsccSteps.quick_delay, gt=0, le=1024)
    """Queueing delay that calls for quick adapt, in targets."""
    quick_share: float = Field(default=NsccSteps.quick_share, ge=0, le=1)
    """Quick adapt where less than this share of the largest window arrived."""

    @cached_property
    def _program(self) -> Program:
        return nscc_program()

    def program(self) -> Program:
        """The whole decision as an integer program."""
        return self._program

    def params(self, path: NsccPath | None = None) -> dict[str, int]:
        """The operator's parameters for ``path``; None: the document's network. InputError where one is out of its
        range."""
        steps = NsccSteps(**{name: getattr(self, name) for name in NsccSteps.__dataclass_fields__})
        return nscc_params(path or NsccPath(self.mtu, self.line_rate, self.base_rtt), steps)

    def save(self, folder: Path) -> None:
        """Write algorithm.json into an artefact folder."""
        write_atomically(folder / NAME, dump_json(self.model_dump(mode="json")))


def load_algorithm(path: Path) -> Algorithm:
    """Read and check an algorithm's TOML. InputError names the key that is wrong, or the setting out of range."""
    algorithm = parse_toml(Algorithm, read_bytes(path), str(path))
    return _settable(algorithm, str(path))


def is_algorithm(path: Path) -> bool:
    """Returns whether a TOML file names an algorithm. InputError where it cannot be read."""
    try:
        return "algorithm" in tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError):
        return False


def read_algorithm(content: bytes, where: str) -> Algorithm:
    """The same of algorithm.json's bytes; ``where`` names it."""
    return _settable(validate(Algorithm, parse_json(content, where), where), where)


def _settable(algorithm: Algorithm, where: str) -> Algorithm:
    try:
        algorithm.params()
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return algorithm

"""network.json: a quantised policy, exactly: integer network, observation, action map, limits, provenance.

To a network's firmware what student.json is to the trees'.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from decision.artefact.documents import dump_json, parse_json, read_bytes
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.ir.forest import integer
from decision.ir.network import Int8Network
from decision.ir.network_json import network_from_json, network_to_json
from decision.ir.program import Program
from decision.policy.actions import Choice, scale_of
from decision.policy.header_fields import Headed
from decision.policy.network_decision import Input, build, wants_root
from decision.policy.policy import header_of
from decision.policy.student import writable_names

FORMAT = 1
NAME = "network.json"


@dataclass(frozen=True)
class NetworkPolicy(Headed):
    """A quantised teacher. ``inputs``: one a feature; ``teacher``: its hash; ``report``: of the quantisation."""

    inputs: tuple[Input, ...]
    network: Int8Network
    teacher: str
    report: dict[str, Any] = field(default_factory=dict)

    def program(self) -> Program:
        """The decision program."""
        action = self.action if isinstance(self.action, Choice) else scale_of(self.action, "an int8 network")
        return build(self.observation, action, self.inputs, self.network, self.start, self.once_per_rtt)

    def save(self, folder: Path) -> None:
        """Write network.json into an artefact folder."""
        content = {
            "format": FORMAT,
            "name": self.name,
            "teacher": self.teacher,
            **self.header.model_dump(mode="json"),
            "report": self.report,
            "inputs": [{"root": scaling.root, "shift": scaling.shift} for scaling in self.inputs],
            "network": network_to_json(self.network),
        }
        write_atomically(folder / NAME, dump_json(content))


def load_network_policy(path: Path) -> NetworkPolicy:
    """Read and check a network.json. InputError where it is not one, or its parts do not fit each other."""
    return read_network_policy(read_bytes(path), str(path))


def read_network_policy(content: bytes, where: str) -> NetworkPolicy:
    """The same of the file's bytes; ``where`` names it."""
    data = parse_json(content, where)
    try:
        if data["format"] != FORMAT:
            raise InputError(f"{where} has format {data['format']!r}, not {FORMAT}; emit the firmware again")
        header = header_of(data, where)
        name, teacher, report = str(data["name"]), str(data["teacher"]), dict(data["report"])
        if not writable_names(name, teacher):
            raise InputError(
                f"{where} has a name or a teacher's hash that rlcc does not write; emit the firmware again"
            )
        inputs = tuple(Input(scaling["root"] is True, integer(scaling["shift"])) for scaling in data["inputs"])
        network = network_from_json(data["network"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{where} is not a network of rlcc ({error!r}); emit the firmware again") from None
    policy = NetworkPolicy(name, header, inputs, network, teacher, report)
    if [scaling.root for scaling in inputs] != [wants_root(feature) for feature in header.observation.features]:
        raise InputError(f"{where}: the inputs are not those of the observation; emit the firmware again")
    policy.program()
    return policy

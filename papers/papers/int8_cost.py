"""What the networks of a teacher that chooses rows take in int8 on an engine: emitted, run, counted.

A policy with a trigger is two networks, which rlcc does not emit as one. Each is emitted by itself: the choice as if it
were asked every time, the trigger as a choice between two rows whose window is longer by the decisions that are saved,
which stand where the saved ones do. So a decision in which it fires counts what is around a network twice.
"""

from dataclasses import dataclass
from pathlib import Path

from codegen.emit import Emission
from codegen.networks.body import emit_network
from codegen.networks.quantised import quantised
from decision.artefact import temporary
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.policy.actions import Choice
from decision.policy.policy import Policy
from decision.policy.weights import TRIGGER
from distill import rollout
from emulator.firmware_folder import built
from emulator.run import run_vectors
from netsim.deployment import Deployment
from teachers.teacher import Teacher, Weights


@dataclass(frozen=True)
class Int8:
    """One network's whole decision on the engine over its vectors, in cycles; ``multiply_adds`` of the network;
    ``code_bytes`` with its tables."""

    multiply_adds: int
    mean: float
    slowest: int
    clock_mhz: float
    code_bytes: int

    @property
    def mean_ps(self) -> int:
        return round(self.mean * 1_000_000 / self.clock_mhz)


def measured(teacher: Teacher, rollouts: Path, deployment: Deployment, profile: str) -> list[Int8]:
    """The choice, and the trigger where there is one; calibrated on the teacher's ``rollouts``."""
    parent = opened(rollouts, rollout.KIND)
    found = []
    for policy, weights in apart(teacher):
        runs = (run.trajectories for run in rollout.read(rollouts, teacher, deployment))
        made = quantised(policy, weights, teacher.hash, runs, "mlp-int8")
        with temporary.folder() as folder:
            emit_network(made, parent.hash, folder / "firmware", Emission("bare"))
            report = run_vectors(built(folder / "firmware", profile=profile))
        if report.cycles is None or report.code_bytes is None:
            raise InputError(f"the network of {policy.name} does not run on {profile}: {report.fault}")
        size, cycles = report.code_bytes + (report.table_bytes or 0), report.cycles
        found.append(Int8(made.network.multiply_accumulates(), cycles.mean, cycles.max, report.clock_mhz, size))
    return found


def apart(teacher: Teacher) -> list[tuple[Policy, Weights]]:
    """The choice, and the trigger as a choice of its own, each with its weights."""
    policy = teacher.policy
    own = {name: w for name, w in teacher.weights.items() if not name.startswith(TRIGGER)}
    if policy.trigger is None:
        return [(policy, own)]
    assert isinstance(policy.action, Choice)
    assert policy.action.rows is not None
    choice = policy.untriggered()
    window = policy.observation.window + policy.trigger.saved
    trigger = choice.model_copy(
        update={
            "architecture": policy.architecture.model_copy(update={"hidden": policy.trigger.hidden}),
            "observation": choice.observation.with_window(window),
            "action": policy.action.model_copy(update={"rows": policy.action.rows[:2]}),
        }
    )
    return [(choice, own), (trigger, {n.removeprefix(TRIGGER): w for n, w in teacher.weights.items() if n not in own})]

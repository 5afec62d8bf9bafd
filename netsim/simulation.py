"""Run a policy in a network: ``simulate`` for a whole run, ``Simulation`` for one that goes on.

result = simulate("many-to-one:64", native(policy, weights), seed=1)
result.metrics["goodput"], result.records["rate_q30"]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.interface import Interface
from decision.ir.interfaces.flow_rate import FLOW_RATE
from netsim import _core, assembly, scenarios
from netsim.cohorts import Cohort, Wire, named
from netsim.cohorts import Records as Records
from netsim.engines import Engines
from netsim.metrics import metrics
from netsim.mixes import Mix, Steering, parts_of
from netsim.network import LATEST_PS, MAX_BYTES, MS, Network
from netsim.policies import NativePolicy, Weights
from netsim.scenarios import Scenario

DURATION_PS = 200 * MS  # RL-CC, published code: 200 ms, measured from 50 to 170 ms
WINDOW_PS = (50 * MS, 170 * MS)
DECISION_LATENCY_PS = 900_000  # [RLCC] table 1: 0.9 us for boosted trees on the NIC


@dataclass(frozen=True)
class Result:
    """Metrics of the window; records of the whole run where they were asked for (columns: decision.policy.records), of
    the flows and of each cohort beside them."""

    scenario: Scenario
    metrics: dict[str, float]
    records: Records = field(repr=False)
    cohorts: tuple[Records, ...] = field(default=(), repr=False)


class Measured:
    """Readings of a running network, for any decider in it."""

    scenario: Scenario
    network: Network
    interfaces: tuple[Interface, ...] = (FLOW_RATE,)
    """Of the cohorts, the flows' first, of a mix one a part."""
    _core: Any

    def drain_records(self, cohort: int = 0) -> Records:
        """The decisions recorded since the last call: the flows', or those of another cohort, numbered from 1."""
        return named(self._core.drain_records(self._number(cohort)), self.interfaces[cohort])

    def decisions(self, cohort: int = 0) -> int:
        """How many decisions a cohort has made since the start."""
        return int(self._core.decisions(self._number(cohort)))

    def places(self) -> dict[str, NDArray[np.uint32]]:
        """Returns what each flow knows of the network, by name, to read its records by [flows]."""
        flows = self.interfaces[0]
        placed = assembly.place(self.scenario, self.network)
        return assembly.paths_of(flows, self.scenario, *placed, seed=0).places(flows)

    def late_answers(self, cohort: int = 0) -> int:
        """Returns how many late answers a cohort has counted since the start, if its policy decides `once_per_rtt`."""
        return int(self._core.late_answers(self._number(cohort)))

    def start_recording(self, on: bool = True) -> None:
        """Keep the decisions of all cohorts from now on, or no longer."""
        for cohort in range(len(self.interfaces)):
            self._core.record(on, cohort)

    def _number(self, cohort: int) -> int:
        if not 0 <= cohort < len(self.interfaces):
            raise InputError(f"there is no cohort {cohort}; the simulation has {len(self.interfaces)}, from 0 on")
        return cohort

    def reset_window(self) -> None:
        """Begin a new measurement window now."""
        self._core.reset_window()

    def metrics(self) -> dict[str, float]:
        """Metrics since the window began."""
        return metrics(dict(self._core.window()), self.scenario, self.network)

    def window(self) -> dict[str, Any]:
        """The raw counts behind the metrics, by flow and port."""
        return dict(self._core.window())

    def ports(self) -> dict[str, NDArray[Any]]:
        """Every port of every switch [ports], receivers' first: ``backlog_bytes`` now, and since the start
        ``sent_bytes`` (on the wire), ``marked`` and ``dropped`` data packets."""
        return dict(self._core.ports())

    def delivered(self) -> NDArray[np.uint32]:
        """Packets of each flow that reached its receiver in order, since the start."""
        return np.asarray(self._core.delivered())

    def rates(self) -> NDArray[np.float64]:
        """Rate of each flow, a fraction of line rate; 0 for one that is not there now."""
        return np.asarray(self._core.rates())

    def started_ps(self) -> NDArray[np.int64]:
        """When each flow began, or began anew, the last time; -1 for one that has not come yet."""
        return np.asarray(self._core.started_ps())

    def set_red(self, port: int, min_bytes: int, max_bytes: int, max_probability: float) -> None:
        """Other marking thresholds of one port from now on."""
        if not 0 <= port < self.ports()["marked"].size:
            raise InputError(f"there is no port {port}; the network has {self.ports()['marked'].size}")
        if not 0 <= min_bytes <= max_bytes <= MAX_BYTES or not 0 <= max_probability <= 1:
            raise InputError(f"port {port}: 0 <= min_bytes <= max_bytes and a probability of 0 to 1 are needed")
        self._core.set_red(port, int(min_bytes), int(max_bytes), float(max_probability))

    def engine_events(self, cohort: int = 0) -> dict[str, int]:
        """Events since the start: ``events`` = decided + dropped + coalesced + expired + waiting; ``holds`` says
        whether it is so. Empty where decisions wait for no engine."""
        return dict(self._core.engine_events(self._number(cohort)) or {})

    def conservation(self) -> dict[str, int]:
        """Data packets sent = arrived + dropped + headers_arrived + on_uplinks + at_ports; ``holds`` says whether it is
        so. A header is what a switch left of a packet."""
        return dict(self._core.conservation())


class Simulation(Measured):
    """A network that can be run on, looked at and run on again."""

    def __init__(
        self,
        scenario: Scenario | str,
        policy: Steering | Mix,
        *,
        seed: int,
        duration_ps: int = DURATION_PS,
        decision_latency_ps: int = DECISION_LATENCY_PS,
        record: bool = False,
        network: Network | None = None,
        engines: Engines | None = None,
        cohorts: Sequence[Cohort] = (),
        wires: Sequence[Wire] = (),
        starts_q30: NDArray[np.uint32] | None = None,
    ) -> None:
        """``duration_ps`` says for how long a scenario by its name has flows that arrive at random.

        Without ``engines`` every flow has an engine of its own, and no decision waits. ``cohorts``: who decides beside
        the flows. ``wires``: knobs of one cohort that are parameters of another. ``starts_q30``: the first rate of
        each flow under a native policy [flows], Q0.30 of line rate, in place of what its limits say.
        """
        asked = network or Network()
        self.scenario = at_random(scenario, seed, duration_ps, asked)
        fabric, net = assembly.place(self.scenario, asked)
        self.network = assembly.fitted(net, policy, fabric)
        self.policy: Steering | Mix = policy
        self._core, self._deciders = assembly.build(
            self.scenario,
            asked,
            policy,
            initial_rate=1.0,
            seed=seed,
            decision_latency_ps=decision_latency_ps,
            engines=engines,
            cohorts=cohorts,
            wires=wires,
            starts_q30=starts_q30,
        )
        self._policy = self._deciders[0]
        steering = [each for each in parts_of(policy) if each is not None]
        self._specs = (*steering, *(cohort.decider for cohort in cohorts))
        self.interfaces = (*map(assembly.flows_interface, steering), *(cohort.interface for cohort in cohorts))
        self.start_recording(record)
        self._failed = ""  # why it cannot go on

    @property
    def now_ps(self) -> int:
        return int(self._core.now_ps)

    def run(self, until_ps: int) -> None:
        """Go on until ``until_ps`` (time since the start). Ctrl-C interrupts it; the simulation stays usable.

        InputError where an emulated core that decides leaves its bounds: then the simulation is over.
        """
        if self._failed:
            raise InputError(self._failed)
        check_until(self.now_ps, until_ps)
        try:
            self._core.run(until_ps)
        except _core.DeciderFault as fault:
            self._failed = f"the core that decides failed after {self.now_ps * 1e-6:.3f} us: {fault}"
            raise InputError(self._failed) from None

    def set_weights(self, weights: Weights) -> None:
        """Other weights of a native policy from now on; flows keep their history and memory."""
        policy = self._native().with_weights(weights)
        self._policy.set_weights(policy.network())
        self.policy = policy

    def set_networks(
        self,
        cohort: int,
        weights: Sequence[Weights],
        of: NDArray[np.integer],
        explore: tuple[float, int] | None = None,
    ) -> None:
        """Other weights of a cohort's native policy from now on: each agent decides by those whose number stands in
        ``of`` [agents]. ``explore``: from now on, as of a `NativePolicy`. InputError where they do not fit."""
        policy = self._specs[self._number(cohort)]
        if not isinstance(policy, NativePolicy):
            raise InputError(f"cohort {cohort} runs no native policy; only such a one has weights")
        try:
            networks = [policy.with_weights(each).network() for each in weights]
            self._deciders[cohort].set_networks(networks, [int(number) for number in of])
            if explore is not None:
                self._deciders[cohort].explore(*explore)
        except ValueError as error:
            raise InputError(f"cohort {cohort}: {error}") from None

    def hidden_state(self) -> NDArray[np.float32]:
        """Memory of each flow [flows, floats]: of an LSTM hidden state, then cell state; of several layers in order."""
        self._native()
        flows = len(self.scenario.flows)
        return np.asarray(self._policy.memory(flows)).reshape(flows, -1)

    def observations(self) -> NDArray[np.float32]:
        """Returns what the network saw at each flow's last decision [flows, window x features]."""
        self._native()
        flows = len(self.scenario.flows)
        return np.asarray(self._policy.observations(flows)).reshape(flows, -1)

    def _native(self) -> NativePolicy:
        if not isinstance(self.policy, NativePolicy):
            raise InputError("only a native policy has weights and memory; this simulation runs another kind")
        return self.policy


def simulate(
    scenario: Scenario | str,
    policy: Steering | Mix,
    *,
    seed: int,
    duration_ps: int = DURATION_PS,
    window_ps: tuple[int, int] = WINDOW_PS,
    decision_latency_ps: int = DECISION_LATENCY_PS,
    record: bool = False,
    network: Network | None = None,
    engines: Engines | None = None,
    cohorts: Sequence[Cohort] = (),
    wires: Sequence[Wire] = (),
) -> Result:
    """One whole run from an empty network; metrics over ``window_ps``."""
    begin, end = window_ps
    if not 0 <= begin < end <= duration_ps:
        raise InputError(f"the window {begin}..{end} ps is empty or outside the {duration_ps} ps of the run")
    run = Simulation(
        scenario,
        policy,
        seed=seed,
        duration_ps=duration_ps,
        decision_latency_ps=decision_latency_ps,
        record=record,
        network=network,
        engines=engines,
        cohorts=cohorts,
        wires=wires,
    )
    run.run(begin)
    run.reset_window()
    run.run(end)
    found = run.metrics()
    run.run(duration_ps)
    others = tuple(run.drain_records(cohort) for cohort in range(1, len(run.interfaces)))
    return Result(run.scenario, found, run.drain_records(), others)


def at_random(scenario: Scenario | str, seed: int, duration_ps: int, network: Network) -> Scenario:
    """A scenario by its name, drawn from the seed where it is random; any other as it is."""
    if not isinstance(scenario, str):
        return scenario
    return scenarios.instantiate(scenario, seed, duration_ps, network)


def check_until(now_ps: int, until_ps: int) -> None:
    """A run goes forward and ends within the clock."""
    if isinstance(until_ps, bool) or not isinstance(until_ps, int | np.integer):
        raise InputError(f"the simulation cannot run until {until_ps!r}; give whole picoseconds")
    if not now_ps <= until_ps <= LATEST_PS:
        raise InputError(f"the simulation cannot run from {now_ps} to {until_ps} ps; time goes forward, up to 100 s")


def merge(records: Sequence[Mapping[str, NDArray[Any]]]) -> Records:
    """Records of one simulation drained in parts, as one."""
    if not records:
        return {}
    return {name: np.concatenate([part[name] for part in records]) for name in records[0]}

"""Array API: decisions are made outside, a batch at a time, over contiguous NumPy arrays.

    env = ArrayEnv("many-to-one:64", seed=1, duration_ps=20 * MS)
    while (batch := env.recv()) is not None:
        env.send(multiplier=policy(batch))

The semantics are those of a policy inside the simulator. If the decision latency is L, the simulator runs ahead from
the first pending decision at time t only to t + L, when that decision takes effect. All decisions of that span form the
batch, and none of them can depend on another's outcome. If L = 0, a batch is one decision.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_rate import flow_interface
from decision.ir.interpret import evaluate
from decision.policy.bursts import Bursts
from decision.policy.in_flight import InFlight, in_flight_program
from decision.policy.probes import Probes
from netsim import assembly
from netsim.cohorts import named
from netsim.network import Network
from netsim.scenarios import Scenario
from netsim.simulation import DECISION_LATENCY_PS, DURATION_PS, Measured, at_random, check_until

ONE_Q30 = 1 << 30
ACTION_LIMIT_Q16 = 2**31 - 1


@dataclass(frozen=True)
class Batch:
    """Decisions to make, in the order of their times. Signals: of flow_rate; ``rate_q30`` is what a decision goes on
    from: the rate set last, held to the device's where that is told."""

    t_ps: NDArray[np.int64]
    flow: NDArray[np.uint32]
    step: NDArray[np.uint32]  # decisions since the flow was new
    request_sent_ns: NDArray[np.uint32]
    response_ns: NDArray[np.uint32]
    cnp_count: NDArray[np.uint32]
    nack_count: NDArray[np.uint32]
    sent_bytes: NDArray[np.uint32]
    queue_bytes: NDArray[np.uint32]
    rate_q30: NDArray[np.uint32] = field(repr=False)
    device_rate_q20: NDArray[np.uint32] | None = field(default=None, repr=False)  # where it is asked for
    acked_bytes: NDArray[np.uint32] | None = field(default=None, repr=False)  # where ``acks`` are
    marked_bytes: NDArray[np.uint32] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return int(self.flow.size)

    @property
    def rtt_ns(self) -> NDArray[np.uint32]:
        """Both timestamps wrap; their difference does not."""
        return self.response_ns - self.request_sent_ns


class ArrayEnv(Measured):
    """A simulation whose decisions come from outside. Rates are Q0.30 fractions of line rate."""

    def __init__(
        self,
        scenario: Scenario | str,
        seed: int,
        *,
        duration_ps: int = DURATION_PS,
        decision_latency_ps: int = DECISION_LATENCY_PS,
        record: bool = False,
        network: Network | None = None,
        rate_min_q30: int = ONE_Q30 // 10**6,
        rate_max_q30: int = ONE_Q30,
        rate_initial_q30: int = ONE_Q30,
        in_flight: InFlight | None = None,
        probes: Probes | None = None,
        bursts: Bursts | None = None,
        device_rate: bool = False,
        acks: bool = False,
        rtt_slack: bool = False,
    ) -> None:
        """``in_flight``: what a flow may have in flight follows its rate so, whoever sets that. ``probes``: when flows
        ask for their RTT, ``bursts``: how long their bursts are, where the network does not decide that.
        ``device_rate``: batches and records have the NIC's own rate in force, and decisions go on from it
        (decision/policy/device_rate.py). ``acks``: they have what was acknowledged, and every packet is. ``rtt_slack``:
        flows know the network's longest base RTT and their slack."""
        if not 1 <= rate_min_q30 <= rate_initial_q30 <= rate_max_q30 <= ONE_Q30:
            raise InputError("1 <= rate_min_q30 <= rate_initial_q30 <= rate_max_q30 <= 2^30 does not hold")
        check_until(0, duration_ps)
        asked = assembly.probed(network or Network(), probes)
        self.scenario = at_random(scenario, seed, duration_ps, asked)
        fabric, self.network = assembly.place(self.scenario, asked)
        asked = replace(asked, burst_packets=assembly.in_bursts(self.network, bursts, fabric).burst_packets)
        self.duration_ps = duration_ps
        self.rate_min_q30, self.rate_max_q30 = rate_min_q30, rate_max_q30
        told = {"in_flight": in_flight is not None, "device_rate": device_rate, "acks": acks, "rtt_slack": rtt_slack}
        self.interfaces = (flow_interface([option for option, on in told.items() if on]),)
        self._in_flight = None if in_flight is None else self._params(in_flight, asked)
        flows = len(self.scenario.flows)
        capped = self._capped(np.full(flows, rate_initial_q30, np.uint32), np.arange(flows))
        first = np.uint32(assembly.first_window(in_flight, fabric))
        self._core, _ = assembly.build(
            self.scenario,
            asked,
            None,
            initial_rate=rate_initial_q30 / ONE_Q30,
            seed=seed,
            decision_latency_ps=decision_latency_ps,
            outside=self.interfaces[0],
            initial_in_flight=None if capped is None else np.minimum(capped, first),
        )
        self.start_recording(record)
        self._batch: Batch | None = None

    @property
    def now_ps(self) -> int:
        return int(self._core.now_ps)

    def recv(self, until_ps: int | None = None) -> Batch | None:
        """Run on to the next batch; None where there is none before ``until_ps`` (by default the end)."""
        until = self.duration_ps if until_ps is None else until_ps
        if self._batch is not None:
            raise InputError("the last batch has not been answered; send its decisions before the next recv")
        check_until(self.now_ps, until)
        if self._core.run(until):
            return None
        columns = named(self._core.batch(), self.interfaces[0])
        self._batch = Batch(**{name: columns[name] for name in Batch.__dataclass_fields__ if name in columns})
        return self._batch

    def send(
        self,
        flow: ArrayLike | None = None,
        *,
        multiplier: ArrayLike | None = None,
        rate_q30: ArrayLike | None = None,
    ) -> None:
        """Answer the batch with multipliers of the rates or with new rates; ``flow`` says in which order, by default
        the batch's own. A multiplier counts in steps of 2^-16 and the new rate is clamped to the limits."""
        batch = self._batch
        if batch is None:
            raise InputError("there is no batch to answer; call recv first")
        order = _order(batch.flow, flow)
        before = batch.rate_q30.astype(np.float64)
        if multiplier is not None and rate_q30 is None:
            m = _column(multiplier, "multiplier", batch)[order]
            if not (m > 0).all() or m.max() > ACTION_LIMIT_Q16 / 2**16:
                raise InputError("a multiplier must be a positive number below 32768")
            action = np.rint((m - 1.0) * 2**16)
            asked = np.floor(before * (1.0 + action / 2**16) + 0.5)
        elif rate_q30 is not None and multiplier is None:
            asked = _column(rate_q30, "rate_q30", batch)[order]
            action = np.clip(np.rint((asked / before - 1.0) * 2**16), -ACTION_LIMIT_Q16, ACTION_LIMIT_Q16)
        else:
            raise InputError("send either multiplier or rate_q30")
        rate = np.floor(np.clip(asked, self.rate_min_q30, self.rate_max_q30) + 0.5)
        knobs, capped = rate.astype(np.uint32), self._capped(rate.astype(np.uint32), batch.flow)
        if capped is not None:
            knobs = np.stack([knobs, capped], axis=1).ravel()
        self._core.answer(0, knobs, action.astype(np.int32))
        self._batch = None

    def _params(self, in_flight: InFlight, asked: Network) -> dict[str, NDArray[np.uint32]]:
        """Returns the parameters of each flow, by what is known of its path."""
        where = assembly.paths(self.scenario, *assembly.place(self.scenario, asked))
        return where.params(self.interfaces[0], in_flight)

    def _capped(self, rate_q30: NDArray[np.uint32], flow: NDArray[np.integer]) -> NDArray[np.uint32] | None:
        """The bytes that flows [N] at these rates may have in flight; None where the network alone says that."""
        if self._in_flight is None:
            return None
        each = {name: values[flow] for name, values in self._in_flight.items()}
        program = in_flight_program(self.interfaces[0])
        event = dict.fromkeys(program.interface.event_names, 0)
        params = dict.fromkeys(program.interface.param_names, 1) | each
        knobs, _ = evaluate(program, event, params, {"rate_q30": rate_q30})
        return knobs[1].astype(np.uint32)


def _order(asked: NDArray[np.uint32], in_order: ArrayLike | None) -> NDArray[np.int64]:
    """For each decision of the batch, where its answer stands. A flow has one decision a batch at the most."""
    if in_order is None:
        return np.arange(asked.size)
    flows = np.asarray(in_order)
    if flows.shape != asked.shape or not np.array_equal(np.sort(flows), np.sort(asked)):
        raise InputError("send must name exactly the flows of the batch, each once")
    places = np.empty(asked.size, dtype=np.int64)
    places[np.argsort(asked, kind="stable")] = np.argsort(flows, kind="stable")
    return places


def _column(values: ArrayLike, name: str, batch: Batch) -> NDArray[np.float64]:
    column = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if column.shape != batch.flow.shape:
        raise InputError(f"{name} has shape {column.shape}; the batch has {len(batch)} decisions")
    if not np.isfinite(column).all():
        raise InputError(f"{name} holds NaN or infinity; check the policy that made it")
    return column

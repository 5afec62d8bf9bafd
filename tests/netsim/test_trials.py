"""Trials: the same bytes wherever they run, a key of all that counts, and a run that a lost process does not end.

Slow: three deaths of a worker; the fast suite has one.
"""

import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from reproducible import profile

from decision.artefact.errors import InputError
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from netsim import Cohort, Engines, Network, Wire, baselines, policies, simulate, trials
from netsim.answers import Lost
from netsim.network import MS, US
from netsim.places import InThisThread, Place, Threads, at_place
from netsim.processes import Processes
from netsim.result_store import Kept
from netsim.samples import Sampling
from netsim.scenarios import Flows, Scenario
from netsim.sites import Paths, SiteFacts
from netsim.trials import ATTEMPTS, Trial, run

FIXED = policies.fixed(QUEUE_MARKING, {"kmin_bytes": 10_000, "kmax_bytes": 40_000, "pmax_q16": 1 << 14})
TRIAL = Trial(
    "many-to-one:4",
    baselines.by_name("dcqcn"),
    seed=3,
    duration_ps=2 * MS,
    window_ps=(MS, 2 * MS),
    record_ps=MS,
    sampling=Sampling(20, 2),
    cohorts=(Cohort(FIXED, 100 * US),),
    name="DCQCN",
)


@dataclass(frozen=True)
class Ends:
    """A policy whose process ends when it is built, until ``lives`` files are in the folder."""

    folder: Path
    lives: int
    needs_int: bool = False

    def build(self, agents: int, where: Paths | SiteFacts | None = None) -> Any:
        if len(list(self.folder.iterdir())) < self.lives:
            (self.folder / str(len(list(self.folder.iterdir())))).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return policies.fixed(QUEUE_MARKING, FIXED.knobs).build(agents, where)

    @property
    def interface(self) -> Any:
        return QUEUE_MARKING

    def content(self) -> str:
        return "ends"


def ending(folder: Path, lives: int) -> Trial:
    folder.mkdir()
    return replace(TRIAL, cohorts=(Cohort(Ends(folder, lives), 100 * US),), name="ending")


def test_a_trial_gives_what_simulate_does() -> None:
    (outcome,) = run([TRIAL], InThisThread())
    same = simulate(
        "many-to-one:4", TRIAL.policy, seed=3, duration_ps=2 * MS, window_ps=(MS, 2 * MS), cohorts=TRIAL.cohorts
    )
    assert outcome.metrics == pytest.approx(same.metrics, rel=0, abs=0, nan_ok=True)
    assert outcome.flows == 4
    marked = outcome.records[1]
    assert marked["t_ps"].max() <= MS
    assert set(marked["kmin_bytes"].tolist()) == {10_000}
    assert outcome.samples is not None
    assert (outcome.samples.t_us[-1], len(outcome.samples.t_us), outcome.samples.flow_gbps.shape[1]) == (2000, 20, 2)


def test_the_same_bytes_on_every_place(tmp_path: Path) -> None:
    several = [TRIAL, replace(TRIAL, seed=4), replace(TRIAL, scenario="long-short:3"), replace(TRIAL, sampling=None)]
    kept: list[dict[str, bytes]] = []
    for place in (InThisThread(), Threads(3), Processes(2)):
        folder = tmp_path / str(len(kept))
        run(several, place, Kept(folder))
        kept.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert len(kept[0]) == 4
    assert kept[0] == kept[1] == kept[2]


def test_trials_run_where_the_command_says() -> None:
    performed = Interrupting(1)
    with at_place(performed), pytest.raises(KeyboardInterrupt):
        run([TRIAL, TRIAL])
    assert performed.left == 0


def test_a_killed_worker_costs_a_retry(tmp_path: Path) -> None:
    trial = ending(tmp_path / "lives", ATTEMPTS - 1)
    said: list[str] = []
    first, second = run([trial, TRIAL], Processes(2), Kept(tmp_path / "kept"), said.append)
    assert first.metrics == pytest.approx(second.metrics, rel=0, abs=0, nan_ok=True)
    assert len(list((tmp_path / "lives").iterdir())) == ATTEMPTS - 1
    assert list(dict.fromkeys(text.partition(",")[0] for text in said)) == ["0 of 2 runs", "1 of 2 runs", "2 of 2 runs"]


def test_progress_estimates_the_rest_from_what_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept(tmp_path / "kept")
    run([TRIAL], InThisThread(), kept)
    clock = iter(range(100, 200, 5))
    monkeypatch.setattr("netsim.trials.time", SimpleNamespace(monotonic=lambda: next(clock)))
    said: list[str] = []
    run([TRIAL, *(replace(TRIAL, seed=seed) for seed in (5, 6, 7))], InThisThread(), kept, said.append)
    assert [text.split(" runs") for text in said] == [
        ["1 of 4", ""],  # which was kept, and says nothing of the others
        ["2 of 4", ", about 10 s left"],
        ["3 of 4", ", about 5 s left"],
        ["4 of 4", ""],
    ]


@pytest.mark.slow
def test_three_deaths_are_one_sentence_and_the_others_are_kept(tmp_path: Path) -> None:
    others = [TRIAL, replace(TRIAL, seed=4)]
    keep = Kept(tmp_path / "kept")
    with pytest.raises(InputError) as error:
        run([ending(tmp_path / "lives", 99), *others], Processes(1), keep)
    assert str(error.value) == (
        "the process of many-to-one:4, seed 3, ending was lost 3 times (ended by SIGKILL); "
        "is there memory for fewer --jobs?"
    )
    assert len(list((tmp_path / "lives").iterdir())) == ATTEMPTS
    assert len(list(keep.folder.iterdir())) == 2
    with pytest.raises(InputError, match="1 others"):
        run([ending(tmp_path / "a", 99), ending(tmp_path / "b", 99)], Processes(2))


def test_long_runs_begin_first_then_the_last_of_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    several = [replace(TRIAL, seed=seed, duration_ps=ms * MS) for seed, ms in ((1, 2), (2, 3), (3, 2), (4, 3))]
    monkeypatch.setattr(trials, "perform", lambda trial: trial.seed)
    begun: list[int] = []
    place: Any = SimpleNamespace(
        answers=lambda work, tasks: [(at, begun.append(task.seed) or work(task)) for at, task in enumerate(tasks)]
    )
    assert run(several, place) == [1, 2, 3, 4]
    assert begun == [4, 2, 3, 1]


class Interrupting:
    """Ctrl-C after so many answers."""

    def __init__(self, answers: int) -> None:
        self.left = answers

    def answers(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[tuple[int, Any | Lost]]:
        for at, task in enumerate(tasks):
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            yield at, work(task)


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    several = [replace(TRIAL, seed=seed) for seed in (1, 2, 3)]
    with pytest.raises(KeyboardInterrupt):
        run(several, Interrupting(2), Kept(tmp_path))
    performed: list[Trial] = []
    perform = trials.perform
    monkeypatch.setattr(trials, "perform", lambda trial: performed.append(trial) or perform(trial))
    keep = Kept(tmp_path)
    resumed = run(several, InThisThread(), keep)
    assert performed == several[:1]  # the last of the list is begun first
    assert keep.reused == 2
    for outcome, fresh in zip(resumed, run(several, InThisThread()), strict=True):
        assert outcome.metrics == pytest.approx(fresh.metrics, rel=0, abs=0, nan_ok=True)
        for mine, its in zip(outcome.records, fresh.records, strict=True):
            assert list(mine) == list(its)
            assert all(mine[name].dtype == its[name].dtype and np.array_equal(mine[name], its[name]) for name in its)
        for f in fields(fresh.samples):  # type: ignore[arg-type]
            assert np.array_equal(getattr(outcome.samples, f.name), getattr(fresh.samples, f.name))


def test_a_damaged_file_is_not_believed(tmp_path: Path) -> None:
    run([TRIAL], InThisThread(), Kept(tmp_path))
    (file,) = tmp_path.iterdir()
    assert file.name == f"{TRIAL.key()}.npz"
    whole = file.read_bytes()
    for damaged in (b"", b"PK\3\4 nothing", whole[:100], whole[:-40]):
        file.write_bytes(damaged)
        keep = Kept(tmp_path)
        run([TRIAL], InThisThread(), keep)
        assert keep.reused == 0
        assert file.read_bytes() == whole


def test_any_damaged_byte_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    (outcome,) = run([TRIAL], InThisThread(), Kept(tmp_path))
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    # Every 20th byte gives each kind of error that any byte gives; the slow suite takes them all.
    for place in range(0, len(whole), 20 if profile == "same" else 1):
        for mask in (0xFF, 1 << place % 8):
            file.write_bytes(whole[:place] + bytes([whole[place] ^ mask]) + whole[place + 1 :])
            loaded = Kept(tmp_path).load(TRIAL.key())
            assert loaded is None or loaded.metrics == outcome.metrics, (place, mask)


OTHERS: dict[str, list[Any]] = {
    "scenario": ["many-to-one:8", Scenario("many-to-one:4", 4, 1, Flows(host=np.arange(4)))],
    "policy": [baselines.by_name("hpcc"), baselines.by_name("dcqcn-hpcc")],
    "seed": [4],
    "duration_ps": [3 * MS],
    "window_ps": [(0, 2 * MS), (MS, MS + 1)],
    "early_ps": [1, MS],
    "record_ps": [0, 2 * MS],
    "sampling": [None, Sampling(10, 2), Sampling(20, 2, to_end=False)],
    "decision_latency_ps": [1],
    "network": [Network(buffer_bytes=10**6), Network(lossless=True, buffer_bytes=32 * 2**20)],
    "engines": [Engines(1), Engines(2), Engines(2, "coalesce", 1)],
    "cohorts": [
        (),
        (Cohort(FIXED, 50 * US),),
        (Cohort(FIXED, 100 * US, latency_ps=1),),
        (Cohort(FIXED, 100 * US, level=("queue_bytes", 5)),),
        (Cohort(FIXED, 100 * US, idle=("queue_bytes", "kmin_bytes", 3)),),
        (Cohort(replace(FIXED, knobs={**FIXED.knobs, "kmin_bytes": 10_001}), 100 * US),),
    ],
    "wires": [(Wire(1, "kmax_bytes", 2, "capacity_bytes"),), (Wire(1, "kmin_bytes", 2, "capacity_bytes"),)],
}


def test_a_changed_field_changes_the_key_and_a_name_does_not() -> None:
    assert set(OTHERS) == {f.name for f in fields(Trial)} - {"name"}
    changed = [replace(TRIAL, **{name: value}) for name, values in OTHERS.items() for value in values]
    changed.append(replace(changed[1], scenario=Scenario("x", 4, 1, Flows(host=np.arange(4), packets=[0, 0, 0, 1]))))
    assert len({trial.key() for trial in [TRIAL, *changed]}) == 1 + len(changed)
    assert replace(TRIAL, name="another").key() == TRIAL.key()


def test_samples_end_with_the_window_where_that_is_enough_and_change_nothing() -> None:
    early = replace(TRIAL, window_ps=(MS // 2, MS), record_ps=0)
    until, to_end, plain = run(
        [replace(early, sampling=Sampling(20, 2, to_end=False)), early, replace(early, sampling=None)], InThisThread()
    )
    assert until.samples is not None
    assert to_end.samples is not None
    assert (until.samples.t_us[-1], to_end.samples.t_us[-1]) == (1000, 2000)
    assert until.samples.mean_gbps.tolist() == to_end.samples.mean_gbps.tolist()[: len(until.samples.t_us)]
    assert until.metrics == pytest.approx(plain.metrics, rel=0, abs=0, nan_ok=True)


def test_the_start_is_measured_apart_and_changes_nothing() -> None:
    """A crowd into a short buffer: what it loses in the first moments, until the window, and later."""
    short = Network(buffer_bytes=100_000)
    crowd = Trial("many-to-one:64", baselines.by_name("dctcp"), 1, 2 * MS, (MS, 2 * MS), network=short)
    (plain, seen), parts = run([crowd, replace(crowd, early_ps=MS // 2)], InThisThread()), []
    start = {name: seen.metrics[name] for name in seen.metrics if name not in plain.metrics}
    assert {**plain.metrics, **start} == pytest.approx(seen.metrics, rel=0, abs=0, nan_ok=True)
    for window in ((0, MS // 2), (0, MS), (MS // 2, 2 * MS)):
        parts.append(run([replace(crowd, window_ps=window)], InThisThread())[0].metrics)
    early, before, later = parts
    assert start == {
        "start_goodput": before["goodput"],
        "start_latency_p99_us": before["latency_p99_us"],
        "start_loss": before["loss"],
        "early_loss": early["loss"],
        "late_dropped_packets": later["dropped_packets"],
    }
    assert early["loss"] > before["loss"] > 0


def test_another_simulator_is_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = TRIAL.key()
    monkeypatch.setattr(trials, "simulator_hash", lambda: "another build")
    assert TRIAL.key() != before


def test_another_numpy_is_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Metrics are sums and quantiles of NumPy's."""
    before = TRIAL.key()
    monkeypatch.setattr(np, "__version__", "another")
    assert TRIAL.key() != before


def test_a_trial_travels() -> None:
    assert pickle.loads(pickle.dumps(TRIAL)).key() == TRIAL.key()


def test_a_core_behind_an_address_cannot_be_kept(tmp_path: Path) -> None:
    params = {"base_rtt_recip_q42": 2**29, "rate_min_q30": 1, "rate_max_q30": 2**30 - 1, "rate_initial_q30": 2**30 - 1}
    trial = Trial(
        "many-to-one:2", policies.decider(1 << 20, 64, 100.0, policies.Installed(params)), seed=1, duration_ps=MS
    )
    with pytest.raises(InputError, match="this process only"):
        run([trial], InThisThread(), Kept(tmp_path))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"window_ps": (MS, MS)}, "empty or outside"),
        ({"window_ps": (0, 3 * MS)}, "empty or outside"),
        ({"window_ps": None}, "window too"),
        ({"early_ps": MS + 1}, "before the window"),
        ({"early_ps": 1, "window_ps": None, "sampling": None}, "before the window"),
        ({"record_ps": 3 * MS}, "be recorded for"),
    ],
)
def test_what_cannot_be_is_refused_at_once(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        replace(TRIAL, **wrong)


def test_a_place_elsewhere_needs_one_method() -> None:
    """What a distributed place would be: anything with ``answers``."""
    place: Place = Interrupting(99)
    (outcome,) = run([TRIAL], place)
    assert outcome.flows == 4

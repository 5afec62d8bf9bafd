"""Whose decisions are compared: the teachers, what is made of them, and the baselines."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from decision.artefact.errors import InputError
from decision.artefact.manifest import sha256
from netsim.baselines import BaselineSpec, by_name
from netsim.build import simulator_hash
from netsim.mixes import Mix, Steering
from netsim.network import US, Network
from netsim.policies import NativePolicy, Weights, native
from netsim.simulation import DECISION_LATENCY_PS
from rlcc.commands.run import command as rlcc_run
from rlcc.evaluation.contenders import emulated_latency_ps
from rlcc.policies import by_path
from teachers.load import load
from teachers.teacher import Teacher

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "papers" / "pages"
TEACHERS = ROOT / "fixtures" / "teachers"
TRAINING_CACHE = ROOT / "build" / "training" / "whole"
RECIPE = ROOT / "recipes" / "rl-cc.toml"
MAKERS = ("decision", "netsim", "teachers", "distill", "codegen", "firmware_templates", "emulator", "rlcc")
ENGINE = "ibex-small"
INT8_CYCLES = 11.6
"""A multiply-add of an int8 network on it (docs/how-to/networks.md: 30,795 cycles for 2640, 13,758 for 1188)."""

ROBUST = ("robust", "robust-in-flight")
"""No paper's: taught where flows come and go, with a start of their own; the second where the device has a cap."""

TARGETS = {"strict": 0.032, "standard": 0.064, "x2": 0.128, "loose": 0.64}
"""Targets of RL-CC's congestion feature in the ratio of PCC-RL's 1, 2 and 20."""

LOSSLESS = Network(lossless=True, buffer_bytes=32 * 2**20)

BASELINES = {
    "DCQCN": "dcqcn-hpcc-marking",
    "DCQCN orig.": "dcqcn-original",
    "HPCC": "hpcc-max-stage-5",
    "Swift": "swift-htsim",
    "DCTCP": "dctcp-hpcc-marking",
    "TIMELY": "timely",
    "max-min": "max-min",
}
DCQCN_LOSSLESS = "DCQCN, PFC"


@dataclass(frozen=True)
class Contender:
    """Decisions, how long each takes to have effect (0: a baseline, asked at every ACK) and the network they meet;
    ``firmware``: the hash of that which decides, where one does."""

    label: str
    policy: Steering | Mix = field(repr=False, compare=False)
    decision_latency_ps: int = 0
    network: Network = field(default_factory=Network)
    firmware: str = ""


@contextmanager
def opened(work: Path) -> Iterator[dict[str, Contender]]:
    """All contenders by label; the tree's C is compiled for as long as the context lasts."""
    mlp = load(TEACHERS / "rl-cc-mlp")
    with by_path(firmware(work, mlp)) as tree:
        latency_ps = emulated_latency_ps(firmware(work, mlp), ENGINE)
        yield without_tree() | {"RL-CC tree": Contender("RL-CC tree", tree.policy, latency_ps, firmware=tree.hash)}


def without_tree() -> dict[str, Contender]:
    """Teachers and baselines by label."""
    pcc_rl, mlp, lstm = (load(TEACHERS / name) for name in ("pcc-rl-lstm", "rl-cc-mlp", "rl-cc-lstm-small"))
    found = [
        _native("PCC-RL LSTM", pcc_rl),
        *(_native(f"target {t:g}", pcc_rl, target=t) for t in TARGETS.values()),
        _native("PCC-RL LSTM, int8 weights", pcc_rl, weights=int8(pcc_rl.weights)),
        _native("RL-CC MLP", mlp),
        _native("RL-CC MLP, 17 us", mlp, latency_ps=17 * US),
        _native("RL-CC MLP, queue length", mlp, signal="queue"),
        _native("RL-CC LSTM", lstm),
        _native("RL-CC LSTM, queue length", lstm, signal="queue"),
        _native("RL-CC LSTM, 450 us", lstm, latency_ps=450 * US),
        *(_native(name, load(TEACHERS / name)) for name in ROBUST),
        *(_baseline(label, by_name(name)) for label, name in BASELINES.items()),
        _baseline(DCQCN_LOSSLESS, by_name("dcqcn-hpcc-marking"), LOSSLESS),
    ]
    return {c.label: c for c in found}


def int8(weights: Weights) -> Weights:
    """Matrices rounded to int8 and back, a scale an output channel, symmetric ([INT8]); biases as they are."""
    return {name: w if w.ndim < 2 else _rounded(w) for name, w in weights.items()}


def _rounded(w: np.ndarray) -> np.ndarray:
    largest = np.abs(w).max(axis=1, keepdims=True)
    scale = np.where(largest > 0, largest / 127, 1)
    return (np.rint(w / scale) * scale).astype(np.float32)


def retargeted(teacher: Teacher, target: float | None, signal: str) -> NativePolicy:
    """The teacher's network looking at another target or signal."""
    policy = teacher.policy
    features = []
    for f in policy.observation.features:
        change = {"signal": signal, "target": target or f.target} if hasattr(f, "target") else {}
        features.append(f.model_copy(update=change))
    observation = policy.observation.model_copy(update={"features": type(policy.observation.features)(features)})
    return native(policy.model_copy(update={"observation": observation}), teacher.weights)


def _native(
    label: str,
    teacher: Teacher,
    *,
    target: float | None = None,
    signal: str = "rtt",
    weights: Weights | None = None,
    latency_ps: int = DECISION_LATENCY_PS,
) -> Contender:
    policy = retargeted(teacher, target, signal)
    if weights is not None:
        policy = policy.with_weights(weights)
    return Contender(label, policy, latency_ps)


def _baseline(label: str, spec: BaselineSpec, network: Network | None = None) -> Contender:
    return Contender(label, spec, 0, network or Network())


def firmware(work: Path, teacher: Teacher) -> Path:
    """The firmware that the recipe of `make demo` makes of the teacher; made again when what it comes from changed."""
    folder, stamp = work / "rl-cc", work / "rl-cc.key"
    key = sha256("\n".join([teacher.hash, sha256(RECIPE.read_bytes()), simulator_hash(), *_sources()]).encode())
    if not stamp.is_file() or stamp.read_text() != key:
        work.mkdir(parents=True, exist_ok=True)
        print("papers: distilling the tree of RL-CC's table 2", file=sys.stderr)
        code = rlcc_run.main([str(RECIPE), "--out", str(folder)], standalone_mode=False)
        if code not in (0, 1):  # 1: the gate has objections, but there is a firmware to compare
            raise InputError(f"{RECIPE} could not be run; see what rlcc run says")
        stamp.write_text(key)
    return folder / "firmware"


def _sources() -> list[str]:
    files = sorted(p for name in MAKERS for p in (ROOT / name).rglob("*") if p.suffix in (".py", ".toml", ".j2"))
    return [f"{p.relative_to(ROOT)} {sha256(p.read_bytes())}" for p in files]

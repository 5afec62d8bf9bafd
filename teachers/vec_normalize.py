"""Statistics that VecNormalize of Stable-Baselines3 saves beside a model, read without running its pickle.

A network behind VecNormalize took clip((value - mean) / sqrt(variance + epsilon), -clip_obs, clip_obs) of every
observation. The saved file is a pickle of the wrapper; here it is read with stand-ins (teachers/inert_pickle.py).
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from decision.artefact.documents import read_bytes
from decision.artefact.errors import InputError
from decision.ir.arrays import Floats
from decision.policy.input_layout import InputLayout
from teachers.inert_pickle import Allowed, Inert, InertUnpickler

_CLASS = ("stable_baselines3.common.vec_env.vec_normalize", "VecNormalize")
_STATISTICS = ("stable_baselines3.common.running_mean_std", "RunningMeanStd")
_KINDS = {"f4": "f4", "f8": "f8"}
_ORDERS = {"<": "<", "=": "=", ">": ">"}


def with_statistics(layout: InputLayout, path: Path) -> InputLayout:
    """The layout with offset, scale and clip of the file. InputError where it is not one of VecNormalize, or has
    statistics that are not of one plain vector."""
    state = _state(path)
    if not isinstance(state.get("norm_obs"), bool):
        raise InputError(f"{path} does not say norm_obs, whether it normalises observations; save it again")
    if not state["norm_obs"]:
        return layout
    mean, variance = _statistics(state, path)
    epsilon, clip = (_positive(state, key, path) for key in ("epsilon", "clip_obs"))
    scale = 1.0 / np.sqrt(variance + epsilon)
    return layout.model_copy(update={"offset": mean.tolist(), "scale": scale.tolist(), "clip": clip})


class _Dtype(Inert):
    """A dtype as NumPy pickles it: its kind, then its byte order."""

    def __init__(self, kind: Any = "", *_: Any) -> None:
        self.kind, self.order = str(kind), "="

    def __setstate__(self, state: Any) -> None:
        self.order = str(state[1])

    def real(self) -> np.dtype[np.floating]:
        """KeyError where it is no floating-point type."""
        return np.dtype(_ORDERS[self.order] + _KINDS[self.kind])


class _StatisticsArray(Inert):
    """An array as NumPy pickles it, not believed yet."""

    shape: Any
    dtype: Any
    fortran: Any
    data: Any

    def __setstate__(self, state: Any) -> None:
        _, self.shape, self.dtype, self.fortran, self.data = state

    def numbers(self) -> Floats:
        """The array as float64. Anything may be raised where it is malformed."""
        numbers: Floats = np.frombuffer(self.data, self.dtype.real()).astype(np.float64)
        return np.reshape(numbers, self.shape, order="F" if self.fortran else "C")


class _StatisticsReader(InertUnpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module == "numpy" and name == "dtype":
            return _Dtype
        if module.startswith("numpy.") and name == "_reconstruct":
            return Allowed(lambda *_: _StatisticsArray())
        if module.startswith("numpy.") and name == "scalar":
            return Allowed(_scalar)
        return super().find_class(module, name)


def _scalar(dtype: Any, data: Any = b"") -> Any:
    """A NumPy scalar: its number, or a stand-in for one that is no float."""
    try:
        return float(np.frombuffer(data, dtype.real())[0])
    except (KeyError, AttributeError, ValueError, TypeError, IndexError):
        return Inert()


def _state(path: Path) -> dict[Any, Any]:
    content = read_bytes(path)
    try:
        wrapper = _StatisticsReader(content).load()
    except Exception:  # a broken pickle raises anything; nothing of it has run
        wrapper = None
    if not isinstance(wrapper, Inert) or (wrapper.module, wrapper.name) != _CLASS:
        raise InputError(f"{path} is no file that VecNormalize.save() of Stable-Baselines3 writes; save it again")
    return wrapper.state


def _positive(state: dict[Any, Any], key: str, path: Path) -> float:
    """A finite number above 0."""
    value = state.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise InputError(f"{path} has {key} = {value!r}, which is no number above 0; save it again")
    return float(value)


def _statistics(state: dict[Any, Any], path: Path) -> tuple[Any, Any]:
    """Mean and variance of every number of an observation."""
    statistics = state.get("obs_rms")
    if not isinstance(statistics, Inert) or (statistics.module, statistics.name) != _STATISTICS:
        raise InputError(f"{path} has no statistics of one vector of observations; train on a Box of float32")
    try:
        mean, variance = (statistics.state[key].numbers().ravel() for key in ("mean", "var"))
    except Exception:  # whatever a malformed array raises
        mean = variance = np.zeros(0)
    if not mean.size or mean.size != variance.size or not np.isfinite([mean, variance]).all() or variance.min() < 0:
        raise InputError(f"{path} has statistics that are no finite mean and variance; save it again")
    return mean, variance

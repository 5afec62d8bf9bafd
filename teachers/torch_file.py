"""Weights in a file of PyTorch: a state_dict, or a TorchScript archive. Neither runs any code of the file.

A state_dict is read by `torch.load(weights_only=True)`, which refuses every pickle that would build other objects.
A TorchScript archive is NOT given to `torch.jit.load`: that runs the module's own `__setstate__`, whose operators can
write files. Its pickle is read here instead, with stand-ins for its classes, and only the tensors are taken.
"""

import io
import pickle
import warnings
import zipfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from decision.artefact.documents import MAX_DOCUMENT_BYTES, read_bytes
from decision.artefact.errors import InputError
from decision.artefact.extras import needed
from decision.policy.policy import PolicyFile
from teachers.inert_pickle import Allowed, Inert, InertUnpickler
from teachers.layers import Array, Shapes, match_layers

_STORAGES = {"FloatStorage": "<f4", "DoubleStorage": "<f8", "HalfStorage": "<f2"}
_MAX_DEPTH = 64


def read_torch(path: Path, file: PolicyFile, shapes: Shapes) -> dict[str, Array]:
    """Canonically named weights of a state_dict (also one inside a checkpoint) or of a TorchScript archive."""
    data = read_bytes(path)
    tensors = _torchscript(data, path) if _is_torchscript(data) else state_dict(data, path)
    return match_layers(shapes, tensors, str(path))


def state_dict(data: bytes, path: Path | str) -> list[tuple[str, Array]]:
    """Names and tensors of what ``torch.save`` wrote, read without running any of it; ``path`` is for errors."""
    with needed():
        import torch
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            content = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        if "Weights only load failed" not in str(error):
            raise InputError(f"{path} is truncated or not a file of PyTorch; copy or save it again") from None
        raise InputError(
            f"{path} is a pickle of Python objects, which would run code when read; "
            "save the weights alone with torch.save(model.state_dict(), ...)"
        ) from None
    except Exception:  # torch.load raises whatever its readers do; which depends on where the file is broken
        raise InputError(f"{path} is truncated or not a file of PyTorch; copy or save it again") from None
    tensors = _find_state_dict(content, torch.Tensor)
    if tensors is None:
        raise InputError(f"{path} holds no state_dict; save one with torch.save(model.state_dict(), ...)")
    try:
        return [(str(key), tensor.detach().to(torch.float64).numpy()) for key, tensor in tensors.items()]
    except (RuntimeError, TypeError):
        raise InputError(f"{path} holds tensors that are not plain numbers in memory; save them as float32") from None


def _find_state_dict(content: Any, tensor: type) -> Mapping[str, Any] | None:
    """The mapping itself, or the only mapping of tensors among its values (a checkpoint's `model_state_dict`)."""

    def is_state_dict(value: Any) -> bool:
        return isinstance(value, Mapping) and bool(value) and all(isinstance(v, tensor) for v in value.values())

    if is_state_dict(content):
        return dict(content)
    inner = [v for v in content.values() if is_state_dict(v)] if isinstance(content, Mapping) else []
    return dict(inner[0]) if len(inner) == 1 else None


def _is_torchscript(data: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return any(name.endswith("/constants.pkl") for name in archive.namelist())
    except zipfile.BadZipFile:
        return False


def _torchscript(data: bytes, path: Path) -> list[tuple[str, Array]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MAX_DOCUMENT_BYTES:
                raise InputError(f"{path} unpacks to more than {MAX_DOCUMENT_BYTES // 2**20} MiB")
            name = next(n for n in archive.namelist() if n.count("/") == 1 and n.endswith("/data.pkl"))
            pickled = archive.read(name)
            module = _TorchReader(pickled, archive, name.removesuffix("data.pkl")).load()
            return list(_tensors(module, "", 0))
    except InputError:
        raise
    except Exception as error:  # a broken pickle raises anything; nothing of it has run
        raise InputError(f"{path} is not a TorchScript module that can be read ({error}); export it again") from None


class _Tensor(NamedTuple):
    """A tensor as the pickle describes it, not believed yet."""

    storage: tuple[str, bytes]
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]

    def array(self) -> Array:
        kind, data = self.storage
        numbers = np.frombuffer(data, dtype=_STORAGES[kind])
        last = self.offset + sum((n - 1) * s for n, s in zip(self.size, self.stride, strict=True))
        if min(self.offset, *self.size, *self.stride) < 0 or last >= numbers.size:
            raise ValueError("a tensor reaches beyond its storage")
        steps = [s * numbers.itemsize for s in self.stride]
        return np.lib.stride_tricks.as_strided(numbers[self.offset :], self.size, steps).copy()


class _TorchReader(InertUnpickler):
    """Builds stand-ins and descriptions of tensors, and nothing else."""

    def __init__(self, pickled: bytes, archive: zipfile.ZipFile, root: str) -> None:
        super().__init__(pickled)
        self.archive = archive
        self.root = root

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("__torch__"):
            return Inert
        if module == "torch" and name in _STORAGES:
            return name
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return Allowed(lambda storage, offset, size, stride, *_: _Tensor(storage, offset, size, stride))
        if (module, name) == ("collections", "OrderedDict"):
            return Allowed(OrderedDict)
        if module == "torch.jit._pickle":  # typed lists and dicts: the plain value does
            return Allowed(lambda value, *_: value)
        raise ValueError(f"it names {module}.{name}, which no network of layers needs")

    def persistent_load(self, pid: Any) -> tuple[str, bytes]:
        _, kind, key, _, _ = pid
        if kind not in _STORAGES:
            raise ValueError(f"a tensor's numbers are of the kind {kind!r}; save it as float32")
        return kind, self.archive.read(f"{self.root}data/{key}")


def _tensors(value: Any, prefix: str, depth: int) -> Iterator[tuple[str, Array]]:
    """Tensors of a module and its submodules, in the order of their definition."""
    if depth > _MAX_DEPTH:
        raise ValueError("its modules are nested too deeply")
    if isinstance(value, _Tensor):
        yield prefix, value.array()
    elif isinstance(value, Inert):
        for name, inner in value.state.items():
            yield from _tensors(inner, f"{prefix}.{name}" if prefix else str(name), depth + 1)

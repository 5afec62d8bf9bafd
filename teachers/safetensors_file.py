"""Weights in a safetensors file: nothing in it can run, and reading it needs no PyTorch."""

from pathlib import Path

import safetensors
import safetensors.numpy

from decision.artefact.documents import read_bytes
from decision.artefact.errors import InputError
from decision.policy.policy import PolicyFile
from teachers.layers import Array, Shapes, match_layers, natural_order


def read_safetensors(path: Path, file: PolicyFile, shapes: Shapes) -> dict[str, Array]:
    """Canonically named weights. Files of rlcc have those names; the tensors of others are matched by shape."""
    return tensors_of(read_bytes(path), str(path), shapes)


def tensors_of(data: bytes, path: str, shapes: Shapes) -> dict[str, Array]:
    """The same of the file's bytes; ``path`` names it."""
    try:
        tensors: dict[str, Array] = dict(safetensors.numpy.load(data))
    except safetensors.SafetensorError as error:
        raise InputError(f"{path} is truncated or not a safetensors file ({error}); copy or train it again") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path} holds a number format that NumPy has not ({error}); save it as float32") from None
    if tensors.keys() == shapes.keys():
        return tensors
    return match_layers(shapes, natural_order(tensors), path)

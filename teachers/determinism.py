"""The same sums wherever a recipe is trained: one thread, and the kernels that the recipe names."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.extras import needed
from teachers import mkl
from teachers.curriculum import Kernels

with needed():
    import torch

__all__ = ["same_sums", "torch"]

SIZE = 64
"""Of matrices that are multiplied to have MKL ask."""
COMPATIBLE = 3
"""MKL's number of the mode that all processors have (MKL_CBWR_COMPATIBLE)."""


@contextmanager
def same_sums(kernels: Kernels = "any") -> Iterator[None]:
    """PyTorch on one thread, with these kernels where it has MKL: layers this small gain nothing from more threads.
    InputError where this process has computed with others, or imported PyTorch before rlcc's teachers."""
    of_make = mkl.told(kernels)
    threads, onednn = torch.get_num_threads(), bool(torch.backends.mkldnn.enabled)
    torch.set_num_threads(1)
    if kernels == "any":  # oneDNN, which computes LSTMs, writes its kernels for the processor that it finds
        torch.backends.mkldnn.enabled = False  # type: ignore[assignment]  # it is written through a property
    try:
        if of_make and not mkl.asked():
            torch.mm(torch.zeros(SIZE, SIZE), torch.zeros(SIZE, SIZE))
            there: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
            if there and not mkl.asked():
                raise InputError(
                    f'kernels = "{kernels}": PyTorch was imported before rlcc could name its kernels; '
                    "import teachers.mkl before torch"
                )
        if not of_make or (mkl.asked() and _for_any() != (kernels == "any")):
            raise InputError(
                f'kernels = "{kernels}": this process has computed with other ones; train in one of its own'
            )
        yield
    finally:
        torch.set_num_threads(threads)
        torch.backends.mkldnn.enabled = onednn  # type: ignore[assignment]


def _for_any() -> bool:
    """Whether what has computed are the kernels of "any", PyTorch's own and MKL's."""
    mode = getattr(ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so")), "mkl_serv_cbwr_get", None)
    return mode is not None and mode(1) == COMPATIBLE and torch.backends.cpu.get_cpu_capability() == "DEFAULT"

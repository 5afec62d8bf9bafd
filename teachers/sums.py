"""The same sums wherever a recipe is trained: one thread, and the kernels of MKL that the recipe names."""

from collections.abc import Iterator
from contextlib import contextmanager

from decision.errors import InputError
from decision.extras import needed
from teachers import mkl
from teachers.curriculum import Kernels

with needed():
    import torch

__all__ = ["same_sums", "torch"]

SIZE = 64
"""Of matrices that are multiplied to have MKL ask."""


@contextmanager
def same_sums(kernels: Kernels = "intel") -> Iterator[None]:
    """PyTorch on one thread, with these kernels where it has MKL: layers this small gain nothing from more threads.
    InputError where this process has computed with others, or imported PyTorch before rlcc's teachers."""
    if not mkl.told(kernels):
        raise InputError(
            f'kernels = "{kernels}": this process has computed with the other ones; train in one of its own'
        )
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        if not mkl.asked():
            torch.mm(torch.zeros(SIZE, SIZE), torch.zeros(SIZE, SIZE))
            there: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
            if there and not mkl.asked():
                raise InputError(
                    f'kernels = "{kernels}": PyTorch was imported before rlcc could name its kernels; '
                    "import teachers.mkl before torch"
                )
        yield
    finally:
        torch.set_num_threads(threads)

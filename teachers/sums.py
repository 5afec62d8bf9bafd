"""The same sums on processors of any make: one thread, and MKL's kernels by their name.

PyTorch multiplies matrices with MKL, and MKL asks who made the processor. On Intel's it takes the widest vectors there
are, on any other's what every x86-64 can run, which adds in another order. A training is a long chain of such sums, so
the same recipe and seed would end in other weights on another make. Here the recipe says which
kernels (``kernels``), and teachers/core/mkl.cpp answers MKL's question by that. Among processors with AVX-512 the bytes
are then the same; without it "wide" are narrower ones, which add in a third order.

This module comes before PyTorch in a process: whoever imports torch first has what MKL chooses.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

from decision.errors import InputError
from decision.extras import needed
from teachers import _mkl
from teachers.curriculum import Kernels

ctypes.CDLL(_mkl.__file__, mode=ctypes.RTLD_GLOBAL)  # MKL's calls look for its names among what is global, in turn

with needed():
    import torch

__all__ = ["same_sums", "torch"]


@contextmanager
def same_sums(kernels: Kernels = "wide") -> Iterator[None]:
    """PyTorch on one thread, with these kernels: layers this small gain nothing from more threads. InputError where
    this process has computed with others: MKL chooses once."""
    wide = kernels == "wide"
    if _mkl.say_intel(wide) != wide:
        raise InputError(
            f'kernels = "{kernels}": this process has computed with the other ones; train in one of its own'
        )
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)

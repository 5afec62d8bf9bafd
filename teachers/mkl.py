"""Which kernels PyTorch computes with in this process: by what the recipe says, not by the processor.

PyTorch multiplies matrices with MKL, and MKL asks who made the processor: it has kernels for Intel's, with the widest
vectors there are, and others for AMD's, which add in another order. A training is a long chain of such sums, so the
same recipe and seed would end in other weights on another make. PyTorch's own kernels go by the widest vectors too.

    "any"            MKL's COMPATIBLE mode, as on Intel's, and PyTorch's default kernels: what every x86-64 processor
                     has. Both are read from the environment, once a process, at its first sum
    "intel", "amd"   MKL's questions are answered so (teachers/core/mkl.cpp); all else is as the processor allows

This module comes before PyTorch in a process: MKL's calls look for their names among what is global, in turn. Until a
recipe says otherwise the process computes with those of "any". A PyTorch that has another library in MKL's place is not
touched.
"""

import ctypes
import os

from teachers import _mkl
from teachers.curriculum import Kernels

ctypes.CDLL(_mkl.__file__, mode=ctypes.RTLD_GLOBAL)

__all__ = ["ENVIRONMENT", "asked", "told"]

ENVIRONMENT = {"MKL_CBWR": "COMPATIBLE", "ATEN_CPU_CAPABILITY": "default"}
"""Of MKL and of PyTorch, for "any"."""

os.environ.update(ENVIRONMENT)

asked = _mkl.asked


def told(kernels: Kernels) -> bool:
    """Whether MKL computes, or is to compute, with the kernels of this make: it keeps what it was told first."""
    if kernels != "any":
        for name in ENVIRONMENT:
            os.environ.pop(name, None)
    wanted = kernels != "amd"
    return bool(_mkl.say_intel(wanted) == wanted)

"""Which of MKL's kernels PyTorch computes with in this process: by what the recipe says, not by the processor's make.

PyTorch multiplies matrices with MKL, and MKL asks who made the processor: it has kernels for Intel's, with the widest
vectors there are, and others for AMD's, which add in another order. A training is a long chain of such sums, so the
same recipe and seed would end in other weights on another make. Here MKL's questions are answered
(teachers/core/mkl.cpp), as on Intel's until a recipe says otherwise.

This module comes before PyTorch in a process: MKL's calls look for their names among what is global, in turn. A PyTorch
that has another library in MKL's place is not touched.
"""

import ctypes

from teachers import _mkl
from teachers.curriculum import Kernels

ctypes.CDLL(_mkl.__file__, mode=ctypes.RTLD_GLOBAL)

__all__ = ["asked", "told"]

asked = _mkl.asked


def told(kernels: Kernels) -> bool:
    """Whether MKL computes with these: it keeps what it was told first."""
    wanted = kernels == "intel"
    return bool(_mkl.say_intel(wanted) == wanted)

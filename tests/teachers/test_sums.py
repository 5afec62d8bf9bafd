"""Which of MKL's kernels a process computes with: those that the recipe asks for, on a processor of any make."""

import subprocess
import sys

import pytest

PRODUCTS = """
from hashlib import sha256
torch.manual_seed(0)
digest = sha256()
for rows, width, columns in ((64, 12, 12), (500, 4, 12), (16, 2000, 12)):
    digest.update((torch.randn(rows, width) @ torch.randn(width, columns)).numpy().tobytes())
print(digest.hexdigest())
"""
UNTOUCHED = "import torch\ntorch.set_num_threads(1)" + PRODUCTS


def asked_for(kernels: str) -> str:
    body = PRODUCTS.replace("\n", "\n    ")
    return f"from teachers.sums import same_sums, torch\nwith same_sums({kernels!r}):\n    pass{body}"


def printed(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def products() -> dict[str, str]:
    """The bytes of some matrix products, by the kernels that were asked for."""
    return {kernels: printed(asked_for(kernels)) for kernels in ("wide", "generic")}


def test_either_is_what_mkl_takes_on_some_make(products: dict[str, str]) -> None:
    assert products["wide"] != products["generic"]
    assert printed(UNTOUCHED) in products.values()


def test_the_same_are_the_same_bytes_again(products: dict[str, str]) -> None:
    assert printed(asked_for("generic")) == products["generic"]


def test_whoever_computed_first_has_chosen() -> None:
    script = """
from decision.errors import InputError
from teachers.sums import same_sums, torch
with same_sums("generic"):
    torch.ones(64, 12) @ torch.ones(12, 12)
with same_sums("generic"):
    pass
try:
    with same_sums("wide"):
        pass
except InputError as error:
    print(error)
"""
    assert printed(script) == 'kernels = "wide": this process has computed with the other ones; train in one of its own'
    nothing_yet = script.replace("torch.ones(64, 12) @ torch.ones(12, 12)", "pass")
    assert not printed(nothing_yet)


def test_it_shows_the_process_its_answers_and_nothing_of_its_own() -> None:
    """The library is global in the process: what else it showed would stand before others' names."""
    script = """
from elftools.elf.elffile import ELFFile
from teachers import _mkl
symbols = ELFFile(open(_mkl.__file__, "rb")).get_section_by_name(".dynsym").iter_symbols()
print(*sorted(s.name for s in symbols if s.name and s["st_shndx"] != "SHN_UNDEF"))
"""
    assert printed(script) == "PyInit__mkl mkl_serv_intel_cpu mkl_serv_intel_cpu_true"

"""Which of MKL's kernels a process computes with: those that the recipe asks for, on a processor of any make."""

import subprocess
import sys
from pathlib import Path

import pytest

SHOW = """
from hashlib import sha256
torch.manual_seed(0)
digest = sha256()
for rows, width, columns in ((64, 12, 12), (500, 4, 12), (16, 2000, 12)):
    digest.update((torch.randn(rows, width) @ torch.randn(width, columns)).numpy().tobytes())
print(digest.hexdigest())
"""
UNTOUCHED = "import torch\ntorch.set_num_threads(1)" + SHOW
TRAIN = """
import sys, tomllib
from pathlib import Path
from teachers.curriculum import TrainConfig
from teachers.adpg import train
recipe = tomllib.loads((Path("recipes") / "train-rl-cc-mlp.toml").read_text())
recipe["training"] |= {"episodes": 1, "segments": 4, "scenarios": ["many-to-one:2"], "kernels": sys.argv[1]}
recipe["validation"] = {"flows": [2], "every": 1}
print(train(TrainConfig.model_validate(recipe), Path(sys.argv[2])).teacher.hash)
"""
ROOT = Path(__file__).parents[2]
PROCESSOR = Path("/proc/cpuinfo").read_text()
TRIED = "AuthenticAMD" in PROCESSOR and "avx512f" in PROCESSOR
"""Where the kernels are known to add in different orders, and what MKL takes by itself; elsewhere each is only held to
give the same bytes again."""


def asked_for(kernels: str) -> str:
    body = SHOW.replace("\n", "\n    ")
    return f"from teachers.sums import same_sums, torch\nwith same_sums({kernels!r}):\n    pass{body}"


def printed(script: str, *arguments: str) -> str:
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def products() -> dict[str, str]:
    """The bytes of some matrix products, by the kernels that were asked for."""
    return {kernels: printed(asked_for(kernels)) for kernels in ("intel", "amd")}


def test_either_is_what_mkl_takes_on_some_make(products: dict[str, str]) -> None:
    assert not TRIED or products["intel"] != products["amd"] == printed(UNTOUCHED)


def test_the_same_are_the_same_bytes_again(products: dict[str, str]) -> None:
    assert {kernels: printed(asked_for(kernels)) for kernels in products} == products


def test_a_training_computes_with_those_of_its_recipe(tmp_path: Path) -> None:
    intel, amd, again = (
        printed(TRAIN, kernels, str(tmp_path / place))
        for kernels, place in (("intel", "a"), ("amd", "b"), ("amd", "c"))
    )
    assert amd == again
    assert not TRIED or intel != amd


def test_whoever_computed_first_has_chosen() -> None:
    script = """
from decision.errors import InputError
from teachers.sums import same_sums, torch
with same_sums("amd"):
    pass
with same_sums("amd"):
    pass
try:
    with same_sums("intel"):
        pass
except InputError as error:
    print(error)
"""
    assert (
        printed(script) == 'kernels = "intel": this process has computed with the other ones; train in one of its own'
    )


def test_a_pytorch_that_was_there_first_is_refused() -> None:
    script = """
import torch
from decision.errors import InputError
torch.mm(torch.ones(64, 64), torch.ones(64, 64))
from teachers.sums import same_sums
try:
    with same_sums():
        pass
except InputError as error:
    print(error)
"""
    assert printed(script).endswith("before rlcc could name its kernels; import teachers.mkl before torch")


def test_it_shows_the_process_its_answers_and_nothing_of_its_own() -> None:
    """The library is global in the process: what else it showed would stand before others' names."""
    script = """
from elftools.elf.elffile import ELFFile
from teachers import _mkl
symbols = ELFFile(open(_mkl.__file__, "rb")).get_section_by_name(".dynsym").iter_symbols()
print(*sorted(s.name for s in symbols if s.name and s["st_shndx"] != "SHN_UNDEF"))
"""
    models = ("bulldozer", "clx", "cpx", "icx", "knm", "skl", "zen")
    answers = ["PyInit__mkl", *(f"mkl_serv_cpuis{m}" for m in models), "mkl_serv_intel_cpu", "mkl_serv_intel_cpu_true"]
    assert printed(script).split() == answers

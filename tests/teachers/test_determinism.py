"""Which kernels a process computes with: those that the recipe asks for, on a processor of any make.

Slow: kernels of one make against those of another; the fast suite trains as on an old processor.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_trainings import SMALL, weights_hash

from bench.same_bytes import ENVIRONMENTS
from teachers.mkl import ENVIRONMENT
from teachers.training_log import TrainingLog

SHOW = """
from hashlib import sha256
torch.manual_seed(0)
digest = sha256()
for rows, width, columns in ((64, 12, 12), (500, 4, 12), (16, 2000, 12)):
    digest.update((torch.randn(rows, width) @ torch.randn(width, columns)).numpy().tobytes())
print(digest.hexdigest())
"""
UNTOUCHED = "import torch\ntorch.set_num_threads(1)" + SHOW
ROOT = Path(__file__).parents[2]
PROCESSOR = Path("/proc/cpuinfo").read_text()
TRIED = "AuthenticAMD" in PROCESSOR and "avx2" in PROCESSOR
"""Where the kernels are known to add in different orders, and what MKL takes by itself; elsewhere each is only held to
give the same bytes again."""
TRAININGS = ROOT / "tests" / "teachers" / "small_trainings.py"
ALONE = f"""
import os, runpy, sys
os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}})
sys.argv = ["", *sys.argv[1:]]
runpy.run_path({str(TRAININGS)!r}, run_name="__main__")
"""
"""The same trainings on one processor."""
OLD = {**ENVIRONMENTS["an older one"], "ONEDNN_MAX_CPU_ISA": "SSE41"}
"""What has the libraries compute as on a processor without AVX."""
COMMITTED: dict[str, str] = json.loads(Path(__file__).with_name("small_trainings.json").read_text())
"""The hash that each small training ends in by kernels "any", of `small_trainings.py`."""


def asked_for(kernels: str) -> str:
    body = SHOW.replace("\n", "\n    ")
    return f"from teachers.determinism import same_sums, torch\nwith same_sums({kernels!r}):\n    pass{body}"


def printed(script: str, *arguments: str, **environment: str) -> str:
    command = [sys.executable, "-c", script, *arguments]
    own = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=own | environment)
    return ended.stdout.strip()


def trained(kernels: str, *names: str, **environment: str) -> dict[str, str]:
    """The hash that each small training ends in, in a process with one processor."""
    lines = printed(ALONE, kernels, *names, **environment).splitlines()
    return dict(line.split() for line in lines)


@pytest.fixture(scope="module")
def products() -> dict[str, str]:
    """The bytes of some matrix products, by the kernels that were asked for."""
    return {kernels: printed(asked_for(kernels)) for kernels in ("any", "intel", "amd")}


@pytest.mark.slow
def test_either_is_what_mkl_takes_on_some_make(products: dict[str, str]) -> None:
    assert not TRIED or products["intel"] != products["amd"] == printed(UNTOUCHED)


@pytest.mark.slow
def test_what_every_processor_has_is_of_no_make(products: dict[str, str]) -> None:
    assert not TRIED or products["any"] not in (products["intel"], products["amd"])


def test_any_processor_ends_in_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every method does: here as this processor has it, and on one alone, as on an old one."""
    monkeypatch.setattr(TrainingLog, "draw", lambda log: None)
    here = {name: weights_hash(name, "any", tmp_path) for name in SMALL}
    assert here == COMMITTED
    assert trained("any", **OLD) == COMMITTED


@pytest.mark.slow
def test_a_training_computes_with_those_of_its_recipe() -> None:
    assert not TRIED or trained("intel", "ddpg") != trained("amd", "ddpg")


@pytest.mark.slow_except("any-others0")
@pytest.mark.parametrize(("first", "others"), [("any", ("intel", "amd")), ("intel", ("any", "amd"))])
def test_whoever_computed_first_has_chosen(first: str, others: tuple[str, ...]) -> None:
    script = """
import sys
from decision.artefact.errors import InputError
from teachers.determinism import same_sums
for kernels in sys.argv[1:]:
    try:
        with same_sums(kernels):
            print("computes")
    except InputError as error:
        print(error)
"""
    refused = [f'kernels = "{k}": this process has computed with other ones; train in one of its own' for k in others]
    assert printed(script, first, *others, first).splitlines() == ["computes", *refused, "computes"]


def test_a_pytorch_that_was_there_first_is_refused() -> None:
    script = """
import torch
from decision.artefact.errors import InputError
torch.mm(torch.ones(64, 64), torch.ones(64, 64))
from teachers.determinism import same_sums
try:
    with same_sums():
        pass
except InputError as error:
    print(error)
"""
    assert printed(script).endswith("import teachers.mkl before torch")


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

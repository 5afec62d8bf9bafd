"""A skip that nobody expects fails where that is asked for: the check that CI leaves nothing out unseen."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
LIST = tomllib.loads((TESTS / "expected_skips.toml").read_text())["skip"]
STRICT = "--no-unexpected-skips"

SKIPPING = {
    "no_tool": "import pytest\n\ndef test_a():\n    pytest.skip('no RISC-V GCC here')\n",
    "machine": "import pytest\n\ndef test_a():\n    pytest.skip('no right to load BPF programs')\n",
    "unknown": "import pytest\n\ndef test_a():\n    pytest.skip('not today')\n",
    "mark": "import pytest\n\n@pytest.mark.skip(reason='not today')\ndef test_a():\n    pass\n",
    "condition": "import pytest\n\n@pytest.mark.skipif(True, reason='not today')\ndef test_a():\n    pass\n",
    "no_reason": "import pytest\n\n@pytest.mark.skip\ndef test_a():\n    pass\n",
    "module": "import pytest\n\npytest.skip('not today', allow_module_level=True)\n",
    "import": "import pytest\n\npytest.importorskip('no_such_package')\n\ndef test_a():\n    pass\n",
    "fixture": "import pytest\n\n@pytest.fixture\ndef f():\n    pytest.skip('not today')\n\ndef test_a(f):\n    pass\n",
    "no_parameters": "import pytest\n\n@pytest.mark.parametrize('x', [])\ndef test_a(x):\n    pass\n",
    "expected_failure": "import pytest\n\n@pytest.mark.xfail(strict=True)\ndef test_a():\n    assert False\n",
}
UNEXPECTED = {"unknown", "mark", "condition", "no_reason", "module", "import", "fixture", "no_parameters"}


def run(folder: Path, texts: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    for name, text in texts.items():
        (folder / f"test_{name}.py").write_text(text)
    files = [str(folder / f"test_{name}.py") for name in texts]
    command = [sys.executable, "-m", "pytest", "-p", "skips", "--rootdir", str(folder), "-q", "-rA", *files, *options]
    environment = {**os.environ, "PYTHONPATH": str(TESTS / "plugins"), "PYTEST_ADDOPTS": ""}
    environment.pop("CI", None)  # there pytest tells every reason a second time, whole
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # what is not asked for costs a second a run
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)


def failed(output: str) -> dict[str, str]:
    """Name -> what pytest says of it, of the files above with a test or a collection that failed."""
    return dict(re.findall(r"^(?:FAILED|ERROR) test_(\w+)\.py\S*(?: - )?(.*)$", output, flags=re.MULTILINE))


def test_a_skip_fails_where_that_is_asked_for_unless_it_is_on_the_list(tmp_path: Path) -> None:
    usual = run(tmp_path, SKIPPING)
    assert (usual.returncode, failed(usual.stdout)) == (0, {})
    strict = run(tmp_path, SKIPPING, STRICT, "--continue-on-collection-errors")
    assert strict.returncode == 1
    assert set(failed(strict.stdout)) == UNEXPECTED | {"no_tool"}
    assert strict.stdout.count("list it in expected_skips.toml") == len(UNEXPECTED)
    assert "apt-get install gcc-riscv64-unknown-elf, or --not-installable=gcc-riscv64-unknown-elf" in strict.stdout
    assert "want of gcc-riscv64-unknown-elf: apt-get" in usual.stdout
    assert "`make doctor` says" in usual.stdout
    assert "for want of" not in strict.stdout


def test_workers_tell_of_it_too(tmp_path: Path) -> None:
    texts = {name: SKIPPING[name] for name in ("unknown", "module", "machine")}
    done = run(tmp_path, texts, STRICT, "-p", "xdist", "-n", "2", "--continue-on-collection-errors")
    assert done.returncode == 1, done.stdout
    assert set(failed(done.stdout)) == {"unknown", "module"}


def test_a_module_that_is_skipped_whole_fails_by_itself(tmp_path: Path) -> None:
    assert run(tmp_path, {"module": SKIPPING["module"]}, STRICT).returncode == 2


def test_what_was_left_out_may_be_skipped_and_nothing_else(tmp_path: Path) -> None:
    texts = {name: SKIPPING[name] for name in ("no_tool", "unknown")}
    done = run(tmp_path, texts, STRICT, "--not-installable=gcc-riscv64-unknown-elf")
    assert (done.returncode, set(failed(done.stdout))) == (1, {"unknown"})
    done = run(tmp_path, texts, STRICT, "--not-installable=clang-tidy")
    assert set(failed(done.stdout)) == {"no_tool", "unknown"}
    done = run(tmp_path, texts, STRICT, "--not-installable=everything")
    assert done.returncode == 4
    assert "none such in expected_skips.toml" in done.stderr


def test_each_reason_on_the_list_is_one_that_a_test_gives() -> None:
    """What no test says any more is taken off; what one says is on."""
    texts = "\n".join(p.read_text() for p in TESTS.rglob("*.py") if p != Path(__file__).resolve())
    said = re.findall(r"""(?:pytest\.skip\(|skipif\(.*?reason=)f?"([^"]+)""", texts)
    unlisted = [reason for reason in said if not reason.startswith(tuple(entry["reason"] for entry in LIST))]
    assert not unlisted
    assert [entry["reason"] for entry in LIST if not any(reason.startswith(entry["reason"]) for reason in said)] == []
    assert "importorskip" not in texts

"""`.ci/run` on machines that are not this one: apt-get, sudo, make and the tools are stand-ins that log their calls."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = {
    "gcc-riscv64-unknown-elf": "riscv64-unknown-elf-gcc",
    "clang-tidy": "clang-tidy",
    "frama-c-base": "frama-c",
    "chromium": "chromium",
}
SUMMARY = "===== 7 passed, 1 skipped in 3.21s ====="
# What every machine has; nothing else of this one's is found.
HERE = ("bash", "sh", "cat", "grep", "tail", "tee", "mktemp", "rm", "env", "dirname")

Machine = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Runs .ci/run on a machine: who one is, what apt-get has, whether make's targets fail."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in HERE:
        (programs / name).symlink_to(shutil.which(name) or name)
    (tmp_path / "checkout/.ci").mkdir(parents=True)
    (tmp_path / "checkout/requirements").mkdir()
    shutil.copy(ROOT / ".ci/run", tmp_path / "checkout/.ci/run")
    shutil.copy(ROOT / "requirements/test-tools.sh", tmp_path / "checkout/requirements")

    def program(name: str, body: str) -> None:
        (programs / name).write_text(f"#!{programs}/sh\n{body}\n")
        (programs / name).chmod(0o755)

    def run(
        *,
        root: bool = True,
        sudo: bool = False,
        has: tuple[str, ...] = tuple(TOOLS),
        ci: str = "",
        fails: str = "none",
        suite: str = "",
    ) -> subprocess.CompletedProcess[str]:
        log = tmp_path / "log"
        (tmp_path / "checkout/requirements/system.sh").write_text("exit 0\n")
        program("id", f"echo {0 if root else 1000}")
        program("sudo", f'[ "$1" = --non-interactive ] && shift; {"" if sudo else "false "}"$@"')
        program("ldconfig", "echo libbpf.so.1")
        program("taskset", "exit 0")
        program("qemu-riscv64", "exit 0")
        program("chmod", f'exec {shutil.which("chmod")} "$@"')
        made = "".join(
            f'*" {package}"*) echo > {programs / tool}; chmod 755 {programs / tool};; '
            if package in has
            else f'*" {package}"*) exit 100;; '
            for package, tool in TOOLS.items()
        )
        program(
            "apt-get",
            f"""echo "apt-get $*" >> {log}
[ "$1" = update ] && exec echo > {tmp_path}/lists
[ -e {tmp_path}/lists ] || exit 100
for package in "$@"; do case " $package" in {made} esac; done""",
        )
        program(
            "make",
            f"""echo "make $* [$SKIPS]" >> {log}
case " $* " in *" {fails} "*) exit 2;; esac
[ "$*" = test ] && echo "{SUMMARY}"
exit 0""",
        )
        return subprocess.run(
            [str(programs / "bash"), str(tmp_path / "checkout/.ci/run")],
            env={"PATH": str(programs), "CI": ci, "CI_SUITE": suite, "TMPDIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def log(folder: Path) -> list[str]:
    return (folder / "log").read_text().splitlines()


def test_a_clean_machine_gets_its_lists_then_its_tools_and_no_skip_is_let_through(
    machine: Machine, tmp_path: Path
) -> None:
    done = machine(ci="true")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == SUMMARY
    assert "left out" not in done.stdout
    assert log(tmp_path) == [
        "apt-get update -q",
        f"apt-get install -q -y --no-install-recommends {' '.join(TOOLS)}",
        "make setup-exporters []",
        "make test [--no-unexpected-skips]",
        "make test-checked [--no-unexpected-skips]",
        "make -C papers test [--no-unexpected-skips]",
        "make --keep-going lint [--no-unexpected-skips]",
        "make setup-docs [--no-unexpected-skips]",
        "make docs [--no-unexpected-skips]",
    ]


@pytest.mark.parametrize(("fails", "code"), [("none", 0), ("test-slow", 1)])
def test_every_night_the_slow_suite_takes_the_place_of_the_fast_one(
    machine: Machine, tmp_path: Path, fails: str, code: int
) -> None:
    assert machine(suite="test-slow", fails=fails).returncode == code
    assert "make test-slow [--no-unexpected-skips]" in log(tmp_path)
    assert "make test [--no-unexpected-skips]" not in log(tmp_path)


def test_what_is_there_is_not_installed_again(machine: Machine, tmp_path: Path) -> None:
    machine()
    (tmp_path / "log").unlink()
    assert machine().returncode == 0
    assert not [line for line in log(tmp_path) if line.startswith("apt-get")]


@pytest.mark.parametrize("ci", ["", "true"])
def test_without_root_it_says_what_it_left_out_and_tests_the_rest(machine: Machine, tmp_path: Path, ci: str) -> None:
    done = machine(root=False, ci=ci)
    assert done.returncode == 0, done.stderr
    said = "".join(f"  {package}\n" for package in TOOLS)
    assert done.stdout.endswith(f" installed here:\n{said}{SUMMARY}\n")
    skips = "--no-unexpected-skips" + "".join(f" --not-installable={package}" for package in TOOLS)
    assert f"make test [{skips}]" in log(tmp_path)
    assert not [line for line in log(tmp_path) if line.startswith("apt-get")]


def test_with_sudo_it_installs(machine: Machine, tmp_path: Path) -> None:
    assert machine(root=False, sudo=True, ci="true").returncode == 0
    assert "apt-get update -q" in log(tmp_path)
    assert "make test [--no-unexpected-skips]" in log(tmp_path)


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("", 0)])
def test_a_package_that_is_not_to_be_had_fails_ci_and_the_others_are_installed(
    machine: Machine, tmp_path: Path, ci: str, code: int
) -> None:
    done = machine(has=("gcc-riscv64-unknown-elf", "clang-tidy", "chromium"), ci=ci)
    assert done.returncode == code
    assert " installed here:\n  frama-c-base\n" in done.stdout
    assert "make test [--no-unexpected-skips --not-installable=frama-c-base]" in log(tmp_path)
    assert ("install frama-c-base, which" in done.stderr) == bool(ci)


def test_exporters_that_cannot_be_installed_are_left_out_too(machine: Machine, tmp_path: Path) -> None:
    done = machine(fails="setup-exporters", ci="true")
    assert done.returncode == 1
    assert "make test [--no-unexpected-skips --not-installable=exporters]" in log(tmp_path)


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("", 0)])
def test_without_sphinx_the_site_is_left_out(machine: Machine, tmp_path: Path, ci: str, code: int) -> None:
    done = machine(fails="setup-docs", ci=ci)
    assert done.returncode == code
    assert " installed here:\n  sphinx\n" in done.stdout
    assert not [line for line in log(tmp_path) if line.startswith("make docs")]


@pytest.mark.parametrize(
    ("fails", "command"),
    [
        ("lint", "make lint"),
        ("test-checked", "make test-checked"),
        ("docs", "make docs"),
        ("papers", "make -C papers test"),
    ],
)
def test_any_part_that_fails_fails_the_run(machine: Machine, fails: str, command: str) -> None:
    done = machine(fails=fails)
    assert done.returncode == 1
    assert f"failed: {command}" in done.stderr
    assert done.stdout.splitlines()[-1] == SUMMARY

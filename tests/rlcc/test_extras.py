"""A plain installation helps, checks and emits; what else is missing is one sentence that names the extra.

Slow: further commands with their extras alone; each missing extra is named in the fast suite.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from decision.artefact.extras import DISTRIBUTIONS, OF_THE_CHECKOUT, extras
from rlcc import cli

ROOT = Path(__file__).resolve().parents[2]
TEACHER = ROOT / "fixtures/teachers/rl-cc-mlp"
MODULES = {distribution: module for module, distribution in DISTRIBUTIONS.items()}
BROUGHT = {e: {MODULES.get(n, n.replace("-", "_")) for n in names} for e, names in extras().items()}
PLAIN = set().union(*(modules for extra, modules in BROUGHT.items() if extra not in OF_THE_CHECKOUT))

BLOCKED = """
import sys
absent = set(sys.argv.pop(1).split(","))

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""
COMMAND = "from rlcc.cli import main\nraise SystemExit(main(sys.argv[1:]))"


def private_key() -> bytes:
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return Ed25519PrivateKey.generate().private_bytes(pem, pkcs8, serialization.NoEncryption())


def run_without(modules: set[str], code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BLOCKED + code, ",".join(sorted(modules)), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_command_answers_help_in_a_plain_installation() -> None:
    code = f"from rlcc.cli import main\nraise SystemExit(any([main([n, '--help']) for n in {list(cli.COMMANDS)}]))"
    done = run_without(PLAIN, code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Usage: rlcc ") == len(cli.COMMANDS)


@pytest.mark.slow_except("check-needs0", "emulate-needs3")
@pytest.mark.parametrize(
    ("command", "needs"),
    [
        ("check", ()),
        ("emit", ()),
        ("attest", ["attest", "verify"]),
        ("emulate", ["verify"]),
        ("gate", ["verify"]),
        ("evaluate", ["evaluate", "verify"]),
    ],
)
def test_a_command_runs_with_its_extras_alone(pipeline, tmp_path: Path, command: str, needs: list[str]) -> None:
    key = tmp_path / "key.pem"
    key.write_bytes(private_key())
    arguments = {
        "check": (TEACHER,),
        "emit": (pipeline.student, "--out", tmp_path / "firmware"),
        "attest": (
            *(pipeline.firmware, "--key", key, "--teacher", pipeline.teacher),
            *("-o", tmp_path / "envelope.json"),
        ),
        "emulate": (pipeline.firmware,),
        "gate": (pipeline.firmware, "--recipe", pipeline.recipe, "--out", tmp_path / "verdict"),
        "evaluate": (
            *(pipeline.teacher, pipeline.firmware, "dcqcn", "--scenario", "many-to-one:4"),
            *("--duration", "1 ms", "--no-pictures", "--out", tmp_path),
        ),
    }[command]
    done = run_without(PLAIN - set().union(*(BROUGHT[extra] for extra in needs)), COMMAND, command, *arguments)
    assert done.returncode == 0, done.stderr
    # Nothing but what a long stage on a busy machine says of its progress.
    assert all(line.startswith(f"{command}: ") for line in done.stderr.splitlines()), done.stderr


@pytest.mark.parametrize("extra", sorted(set(BROUGHT) - set(OF_THE_CHECKOUT)))
def test_a_command_without_its_extra_says_which(extra: str, pipeline, tmp_path: Path) -> None:
    """One command for each extra; a new extra needs one here."""
    onnx = tmp_path / "onnx"
    onnx.mkdir()
    (onnx / "policy.toml").write_bytes((TEACHER / "policy.toml").read_bytes())
    (onnx / "policy.onnx").write_bytes(b"onnx")
    small = ["--scenario", "many-to-one:2", "--duration", "1 ms", "--out", tmp_path / "out"]
    asked = {
        "verify": ["emulate", pipeline.firmware],
        "distill": ["distill", TEACHER, pipeline.rollouts, "--out", tmp_path / "s"],
        "evaluate": ["evaluate", TEACHER, *small],
        "formats": ["check", onnx / "policy.onnx"],
        "ray": ["evaluate", TEACHER, *small, "--where", "ray"],
        "search": ["search", ROOT / "recipes/rl-cc.toml", "--out", tmp_path / "search"],
        "train": ["train", ROOT / "recipes/train-rl-cc-mlp.toml", "--out", tmp_path / "t"],
        "attest": ["attest", pipeline.firmware, "--key", tmp_path / "key.pem", "-o", tmp_path / "envelope.json"],
        "cores": ["emulate", pipeline.firmware, "--profile", "picorv32"],
    }
    code = {
        "environments": "from netsim.environments import pettingzoo_parallel",
        "rtl": "sys.executable = '/none/python'\nimport os\nos.environ['PATH'] = '/none'\n"
        "from verify.rtl.netlist import yosys\nyosys()",
    }.get(extra)
    refused(extra, code or COMMAND, *([] if code else asked[extra]))


@pytest.mark.slow
def test_so_do_other_commands_of_the_same_extra(pipeline, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "out")
    refused("verify", COMMAND, "gate", pipeline.firmware, "--recipe", pipeline.recipe, *out)
    refused("distill", COMMAND, "rollout", TEACHER, "--scenario", "many-to-one:2", "--duration", "1 ms", *out)


def refused(extra: str, code: str, *arguments: object) -> None:
    """Asserts that ``code`` without the extra's packages names it, and that a command exits with 2 and no traceback."""
    done = run_without(BROUGHT[extra], code, *arguments)
    last = done.stderr.strip().splitlines()[-1]
    assert f"pip install 'rlcc[{extra}]'" in last, done.stderr
    if arguments:
        assert done.returncode == 2
        assert "Traceback" not in done.stderr

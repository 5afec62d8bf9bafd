"""`[network]` and `[agents.NAME]` of a recipe."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from netsim import Network, baselines
from netsim.cohorts import Cohort
from netsim.deployment import Deployment
from netsim.network import US
from netsim.policies import fixed
from rlcc.cli import main
from rlcc.recipe import deployment_of, load_recipe, teacher_path

QUEUES = """
[agents.queues]
interface = "queue_marking"
period = "100 us"
"""
KNOBS = "fixed_knobs = { kmin_bytes = 10000, kmax_bytes = 40000, pmax_q16 = 16384 }\n"
SENDERS = """
[agents.senders]
interface = "flow_rate"
baseline = "dcqcn"
"""
IDLE = 'idle_rule = ["queue_bytes", "kmin_bytes", 3]\n'
PUPIL = QUEUES + 'teacher = "queue-teacher"\n'


@pytest.fixture
def recipe(recipe_text: str, tmp_path: Path) -> Callable[..., tuple[Any, Path]]:
    def write(added: str, *, teacher: bool = True, front: str = "") -> tuple[Any, Path]:
        text = recipe_text if teacher else recipe_text.replace('teacher = "teacher"\n', "")
        file = tmp_path / "tiny.toml"
        file.write_text(text.replace("seed = 1\n", f"seed = 1\n{front}", 1) + added)
        return load_recipe(file), file

    return write


def test_a_teacher_alone_is_of_flows_in_the_usual_network(recipe: Any) -> None:
    assert deployment_of(*recipe("")) == Deployment()


def test_a_teacher_of_flows_may_be_an_agent_like_others(recipe: Any, tmp_path: Path) -> None:
    (tmp_path / "teacher").mkdir()
    made, file = recipe('[agents.nics]\ninterface = "flow_rate"\nteacher = "teacher"\n', teacher=False)
    assert deployment_of(made, file) == Deployment()
    assert teacher_path(made, file) == (tmp_path / "teacher").resolve()


def test_a_network_takes_what_evaluate_takes_as_a_table_or_a_file(recipe: Any, tmp_path: Path) -> None:
    (tmp_path / "net.toml").write_text('lossless = true\nbuffer = "32 MiB"\n')
    with pytest.raises(InputError, match=r"network: 3 .*no network"):
        recipe("", front="network = 3\n")
    table = deployment_of(*recipe('[network]\nlossless = true\nbuffer = "32 MiB"\n'))
    assert table.network == Network(lossless=True, buffer_bytes=32 * 2**20)
    assert deployment_of(*recipe("", front='network = "net.toml"\n')) == table


def test_queues_of_a_fixed_setting_stand_beside_the_flows_that_are_taught(recipe: Any) -> None:
    deployed = deployment_of(*recipe(QUEUES + KNOBS))
    knobs = {"kmin_bytes": 10_000, "kmax_bytes": 40_000, "pmax_q16": 16_384}
    assert deployed == Deployment(cohorts=(Cohort(fixed(QUEUE_MARKING, knobs), 100 * US),))
    assert deployed.interface == FLOW_RATE


def test_queues_are_taught_under_a_baseline(recipe: Any, tmp_path: Path) -> None:
    made, file = recipe(PUPIL + 'level = ["queue_bytes", 1000]\n' + IDLE + SENDERS, teacher=False)
    deployed = deployment_of(made, file)
    assert deployed.interface == QUEUE_MARKING
    assert deployed.flows == baselines.by_name("dcqcn")
    assert (deployed.period_ps, deployed.level, deployed.cohorts) == (100 * US, ("queue_bytes", 1000), ())
    assert deployed.idle == ("queue_bytes", "kmin_bytes", 3)
    with pytest.raises(InputError, match=r"no .*queue-teacher"):
        teacher_path(made, file)


@pytest.mark.parametrize(
    ("added", "teacher", "words"),
    [
        (PUPIL, True, "teacher and queues"),
        (SENDERS, True, "teacher and senders"),
        (PUPIL, False, "nobody steers"),
        (SENDERS, False, "none is named"),
        (QUEUES, True, "agents.queues: nobody decides"),
        (PUPIL + KNOBS, False, "agents.queues: teacher and fixed_knobs"),
        (QUEUES + 'baseline = "dcqcn"\n', True, "agents.queues: a baseline"),
        (QUEUES.replace('period = "100 us"\n', "") + KNOBS, True, "agents.queues: agents of queue_marking"),
        (QUEUES.replace("100 us", "1 ps") + KNOBS, True, "agents.queues: a period"),
        ('[agents.a]\ninterface = "flow_rate"\nteacher = "t"\nperiod = "1 us"\n', False, "leave period, level"),
        ('[agents.a]\ninterface = "grid"\nteacher = "t"\n', False, "agents.a.interface: agents of 'grid'"),
        (
            QUEUES + "fixed_knobs = { kmin_bytes = 1 }\n",
            True,
            "queue_marking: the knobs are kmin_bytes, kmax_bytes, pmax_q16",
        ),
        (QUEUES + KNOBS.replace("40000", "9999"), True, "kmax_bytes is 9999, below kmin_bytes"),
        (
            QUEUES + KNOBS.replace("16384", "true"),
            True,
            "agents.queues.fixed_knobs.pmax_q16: ",
        ),
        (PUPIL + 'level = ["speed", 1]\n' + SENDERS, False, "level is ('speed', 1); give one of"),
        (PUPIL + IDLE.replace("queue_b", "qeue_b") + SENDERS, False, "by qeue_bytes and kmin_bytes"),
        (PUPIL + SENDERS.replace("dcqcn", "dqccn"), False, "dqccn"),
        (PUPIL.replace("100 us", "900 ns") + SENDERS, False, "period of queues"),
        ('[network]\nbufer = "1 MiB"\n', True, "unknown key bufer"),
        ('[network]\nbuffer = "1 B"\n', True, "buffer_bytes is 1"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_the_file(
    recipe: Any, tmp_path: Path, added: str, teacher: bool, words: str
) -> None:
    with pytest.raises(InputError) as refused:
        deployment_of(*recipe(added, teacher=teacher))
    said = str(refused.value)
    assert said.startswith(str(tmp_path / "tiny.toml"))
    assert words in said
    assert "\n" not in said


def test_the_recipes_that_come_with_rlcc_have_the_usual_network() -> None:
    for name in ("rl-cc", "rl-cc-lstm", "pcc-rl-lstm"):
        file = Path("recipes") / f"{name}.toml"
        assert deployment_of(load_recipe(file), file) == Deployment()


def test_a_target_that_serves_other_agents_is_refused_before_the_first_stage(
    recipe: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "queue-teacher").mkdir()
    _, file = recipe(PUPIL + SENDERS, teacher=False)
    assert main(["run", str(file), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert f"{file}: emit.target: " in error
    assert "--target bare" in error
    assert not (tmp_path / "out").exists()

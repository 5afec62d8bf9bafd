"""A command as a simulator: what it says is taken line by line, and a line that is wrong is named."""

import shlex
import sys
import time
from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from rlcc.simulator.command import command_simulator
from rlcc.simulator.student_library import DrivenStudent

ASKING = """\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    for step in range(5):
        for flow in ("a", "b"):
            now = 1000000 * (step + 1)
            seen = {"flow": flow, "request_sent_ns": now - 60000, "response_ns": now}
            print(json.dumps({"decide": seen}), flush=True)
            rate = json.loads(sys.stdin.readline())["rate_q20"]
            print(json.dumps({"row": {"flow": flow, "t_ps": 1000 * now, "rate": rate, "seed": asked["seed"]}}))
    print(json.dumps({"forget": "a"}))
    print(json.dumps({"done": 1}), flush=True)
"""
"""It cannot load a library and asks for each decision."""


def command(tmp_path: Path, text: str) -> str:
    (tmp_path / "simulator.py").write_text(text)
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / 'simulator.py'))}"


def saying(*lines: str) -> str:
    """Returns a program that answers the run with these lines."""
    return f"import sys\nsys.stdin.readline()\nprint({chr(10).join(lines)!r}, flush=True)\nsys.stdin.readline()\n"


def test_decisions_are_asked_over_the_pipe_and_runs_follow_each_other(tmp_path: Path, given: DrivenStudent) -> None:
    given.contexts.clear()
    with command_simulator(command(tmp_path, ASKING)) as simulator:
        first = simulator.run(given, "s", 7)
        assert first["flow"] == ["a", "b"] * 5
        assert first["rate"][0] == first["rate"][1]
        assert first["rate"][::2] == sorted(first["rate"][::2], reverse=True)
        second = simulator.run(given, "s", 8)
    assert second["seed"] == [8] * 10
    assert second["rate"][0] == first["rate"][0]  # "a" was forgotten
    assert second["rate"][1] < first["rate"][9]  # "b" goes on
    given.contexts.clear()


def test_a_command_that_reads_nothing_is_given_up(tmp_path: Path, given: DrivenStudent) -> None:
    """A run of a name that no pipe holds at once."""
    with command_simulator(command(tmp_path, "import time\ntime.sleep(60)\n"), silence_s=0.5) as simulator:
        begun = time.monotonic()
        with pytest.raises(InputError, match="reads nothing"):
            simulator.run(given, "s" * 2**21, 1)
    assert time.monotonic() - begun < 30


def test_a_command_may_say_much_before_it_reads(tmp_path: Path, given: DrivenStudent) -> None:
    """Both sides write more than a pipe holds; neither waits for ever."""
    lines = [
        "import sys",
        """for k in range(20000): print('{"row": {"x": %d}}' % k)""",
        "sys.stdout.flush()",
        "sys.stdin.readline()",
        """print('{"done": 1}', flush=True)""",
        "sys.stdin.readline()",
    ]
    text = "\n".join(lines)
    with command_simulator(command(tmp_path, text), silence_s=30) as simulator:
        assert simulator.run(given, "s" * 2**21, 1)["x"] == list(range(20000))


def test_rows_come_one_by_one_or_by_column(tmp_path: Path, given: DrivenStudent) -> None:
    lines = ['{"row": {"x": 1}}', '{"rows": {"x": [2, 3]}}', '{"done": 1}']
    with command_simulator(command(tmp_path, saying(*lines))) as simulator:
        assert simulator.run(given, "s", 1) == {"x": [1, 2, 3]}


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["hello"], ("line 1", "no JSON")),
        (["[1]"], ("line 1", "decide, forget")),
        (['{"rwo": {"x": 1}}'], ("line 1", "rwo")),
        (['{"row": {"x": 1}, "done": 1}'], ("line 1", "no message")),
        (['{"row": {}}'], ("line 1", "no columns")),
        (['{"row": 3}'], ("line 1", "no columns")),
        (['{"rows": {"x": 1}}'], ("line 1", "no list")),
        (['{"rows": {"x": [1], "y": []}}'], ("line 1", "different lengths")),
        (['{"row": {"x": 1}}', '{"row": {"y": 1}}'], ("line 2", "'x'")),
        (['{"done": 1}'], ("without a row", "seed 5")),
        (['{"decide": {"cnp_count": 1}}'], ("line 1", "flow")),
        (['{"decide": {"flow": 1, "cnps": 1}}'], ("line 1", "'cnps'")),
    ],
)
def test_a_line_that_is_wrong_is_named(
    tmp_path: Path, given: DrivenStudent, lines: list[str], names: list[str]
) -> None:
    with command_simulator(command(tmp_path, saying(*lines))) as simulator, pytest.raises(InputError) as error:
        simulator.run(given, "s", 5)
    assert all(name in str(error.value) for name in names), str(error.value)
    assert "\n" not in str(error.value)


def test_a_command_that_fails_says_its_code_and_last_words(tmp_path: Path, given: DrivenStudent) -> None:
    text = "import sys\nsys.stdin.readline()\nprint('the queue is upside down', file=sys.stderr)\nsys.exit(3)\n"
    with command_simulator(command(tmp_path, text)) as simulator, pytest.raises(InputError) as error:
        simulator.run(given, "s", 1)
    assert "code 3" in str(error.value)
    assert "upside down" in str(error.value)


def test_a_command_that_is_silent_is_given_up_and_ended(tmp_path: Path, given: DrivenStudent) -> None:
    text = "import time\nwhile True: time.sleep(60)\n"
    with command_simulator(command(tmp_path, text), 0.2) as simulator, pytest.raises(InputError, match=r"0\.2 s"):
        simulator.run(given, "s", 1)
    assert simulator.process.poll() is not None


@pytest.mark.parametrize("text", ["", "./nowhere --fast"])
def test_a_command_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError), command_simulator(text):
        pass

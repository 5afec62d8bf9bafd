"""`rlcc evaluate`: what its arguments mean, that results depend on nothing but what is asked, and what it writes.

Slow: pictures, other numbers of processes and an interrupted report.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from netsim import Network, simulate
from netsim.baselines import by_name
from netsim.metric_names import KERNEL
from netsim.network import MS
from netsim.result_store import Outcome
from netsim.simulation import WINDOW_PS
from rlcc import cli
from rlcc.core_policy import CoreName
from rlcc.evaluation import contenders, pictures, summary
from rlcc.evaluation.grid import Cell, Grid, Results, Times, run
from rlcc.policies import by_name_or_path
from tests.stage_output import figures

SHORT = ("--duration", "4 ms")
ONE = ("--scenario", "many-to-one:2", *SHORT)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory, save_teacher: Callable[..., None]) -> Path:
    folder = tmp_path_factory.mktemp("teachers") / "steady"
    save_teacher(folder)
    return folder


# --- arguments -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "label", "policy", "latency"),
    [
        ("hpcc", None, "hpcc", None),
        ("lstm=some/where@450us", "lstm", "some/where", 450_000_000),
        ("some/where@0.9 us", None, "some/where", 900_000),
        ("the tree=./hpcc", "the tree", "./hpcc", None),
        ("some/dir=1/x", None, "some/dir=1/x", None),
        ("mail@host/x@17us", None, "mail@host/x", 17_000_000),
    ],
)
def test_label_policy_and_latency(text: str, label: str | None, policy: str, latency: int | None) -> None:
    assert contenders.parse(text) == contenders.Argument(label, policy, latency)


@pytest.mark.parametrize(
    ("text", "ratio", "latency", "core"),
    [
        ("x=some/where@target:0.5", 0.5, None, None),
        ("x=some/where@target:10@0.9us", 10.0, 900_000, None),
        ("x=some/where@target:2@rtl:ibex-small", 2.0, None, CoreName("ibex-small", "rtl")),
    ],
)
def test_a_target_stands_before_latency_or_core(
    text: str, ratio: float, latency: int | None, core: CoreName | None
) -> None:
    assert contenders.parse(text) == contenders.Argument("x", "some/where", latency, core, ratio)


@pytest.mark.parametrize("ratio", ["0.2", "17", "nan", "twice", ""])
def test_a_target_out_of_range_is_refused(ratio: str) -> None:
    with pytest.raises(InputError, match="what follows @target"):
        contenders.parse(f"some/where@target:{ratio}@0.9us")


@pytest.mark.parametrize(
    ("which", "said"), [("teacher", "target_ratio = 1 into the observation"), ("hpcc", "is a baseline")]
)
def test_what_has_no_target_to_turn_is_refused(teacher: Path, which: str, said: str) -> None:
    text = str(teacher) if which == "teacher" else which
    with (
        pytest.raises(InputError, match=said),
        contenders.opened([f"{text}@target:2"], decision_latency_ps=None, profile="ibex-small"),
    ):
        pass


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--transport", "selective-repeat"), 0),
        (("--transport", "selective-repeat", "--device", "falcon"), 0),
        (("--transport", "go-back-n", "--device", "falcon"), 2),
        (("--transport", "selective-repeat", "--device", "bluefield3"), 2),
        (("--transport", "tcp"), 2),
        (("--transport", "go-back-n", "--suite", "quick"), 2),
    ],
)
def test_a_transport_that_a_device_lacks_is_refused(options: tuple[str, ...], code: int) -> None:
    assert cli.main(["evaluate", "swift", "--scenario", "many-to-one:2", "--duration", "1 ms", *options]) == code


def test_a_policer_of_nothing_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "network.toml"
    file.write_text('policer = "0 Gb/s"\n')
    assert cli.main(["evaluate", "swift", *ONE, "--network", str(file)]) == 2


def test_a_path_that_is_there_is_taken_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a=b@1us", "b@1us"):
        Path(name).mkdir()
    assert contenders.parse("a=b@1us") == contenders.Argument(None, "a=b@1us", None)
    assert contenders.parse("x=b@1us") == contenders.Argument("x", "b@1us", None)


def test_a_path_wins_over_the_name_of_a_baseline(
    teacher: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with by_name_or_path("hpcc") as named:
        assert named.kind == "baseline"
    shutil.copytree(teacher, "hpcc")
    for text in ("hpcc", "./hpcc"):
        with by_name_or_path(text) as named:
            assert (named.kind, named.name) == ("teacher", "hand-made")


def test_a_baseline_of_a_file_is_known_by_its_parameters(tmp_path: Path) -> None:
    from netsim.baselines import PARAMETERS

    text = (PARAMETERS / "timely.toml").read_text()
    (tmp_path / "mine.toml").write_text("# mine\n" + text)
    (tmp_path / "other.toml").write_text(text.replace("burst_packets", "burst_packets = 3 #", 1))
    hashes = []
    for name in ("timely", tmp_path / "mine.toml", tmp_path / "other.toml"):
        with by_name_or_path(str(name)) as named:
            assert named.kind == "baseline"
            hashes.append(named.hash)
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dqccn"], "dcqcn"),
        (["./dcqcn"], "no dcqcn"),
        (["hpcc@17us"], "acts at once"),
        (["TEACHER@450"], "TEACHER@450: what follows"),
        (["TEACHER@fast"], "with a unit"),
        (["a=@1us"], "names no policy"),
        (["TEACHER", "TEACHER"], "called 'hand-made teacher'"),
        (["x=TEACHER", "x=hpcc"], "called 'x'"),
        (["TEACHER", "--metric", "speed"], "no metric 'speed'; "),
        (["TEACHER", "--scenario", "many-to-none:1"], "many-to-none:1"),
        (["TEACHER", "--scenario", "websearch:101%"], "101"),
        (["TEACHER", "--profile", "ibex-huge"], "ibex-huge"),
        (["TEACHER", "--duration", "0 ms"], "1 us to 100 s"),
        (["TEACHER", "--duration", "101 s"], "1 us to 100 s"),
        (["TEACHER", "--decision-latency", "5"], "--decision_latency"),
        (["nowhere/at/all"], "nowhere/at/all"),
    ],
)
def test_refusals_are_one_sentence_and_nothing_is_written(
    teacher: Path, tmp_path: Path, refused: Any, arguments: list[str], words: str
) -> None:
    given = [a.replace("TEACHER", str(teacher)) for a in arguments]
    out = tmp_path / "out"
    assert words.replace("TEACHER", str(teacher)) in refused("evaluate", *given, "--out", out)
    assert not out.exists()


def test_another_artefact_in_the_place_of_the_evaluation(teacher: Path, tmp_path: Path, refused: Any) -> None:
    (tmp_path / "evaluation").mkdir()
    (tmp_path / "evaluation/thesis.txt").write_text("the only copy")
    assert "an empty folder" in refused("evaluate", teacher, *ONE, "--out", tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["evaluation"]


# --- runs ------------------------------------------------------------------------------------------------------------


def one_run(contender: contenders.Contender, scenario: str, times: Times) -> Outcome:
    cell = Cell(scenario, scenario, times)
    (outcome,) = run(Grid((contender,), (cell,), (7,))).of(contender, cell)
    return outcome


def test_a_run_measures_what_simulate_does(teacher: Path) -> None:
    with contenders.opened([str(teacher)], decision_latency_ps=None, profile="ibex-small") as (contender,):
        found = one_run(contender, "long-short:4", Times(4 * MS, (MS, 3 * MS)))
        plain = simulate("long-short:4", contender.policy, seed=7, duration_ps=4 * MS, window_ps=(MS, 3 * MS))
    start = {name: value for name, value in found.metrics.items() if name not in plain.metrics}
    assert set(start) == {"start_goodput", "start_latency_p99_us", "start_loss", "early_loss", "late_dropped_packets"}
    assert found.metrics == pytest.approx(plain.metrics | start, rel=0, abs=0, nan_ok=True)
    assert found.samples is not None
    assert found.flows == found.samples.flow_gbps.shape[1] == 4
    assert (found.samples.t_us[-1], len(found.samples.t_us)) == (4000, 400)


def test_open_loop_flows_have_their_sizes_and_slowdowns(teacher: Path) -> None:
    with contenders.opened([str(teacher)], decision_latency_ps=None, profile="ibex-small") as (contender,):
        found = one_run(contender, "websearch:40%", Times(6 * MS, (MS, 5 * MS)))
    assert found.samples is not None
    assert found.samples.completed_bytes.size == found.metrics["completions"] > 20
    assert found.samples.completed_bytes.min() >= 1
    assert found.samples.completed_slowdown.mean() == pytest.approx(found.metrics["slowdown_mean"], rel=1e-4)
    assert found.samples.flow_gbps.shape[1] == 16


def test_later_decisions_are_other_results(teacher: Path, evaluate: Any, tmp_path: Path) -> None:
    out = evaluate(teacher, f"late={teacher}@450us", *ONE, "--json", tmp_path / "m.json")
    soon, late = json.loads((tmp_path / "m.json").read_text())
    assert (soon["policy"], late["policy"]) == ("hand-made teacher", "late")
    assert soon["metrics"] != late["metrics"]
    assert "0.9 us" in out
    assert "450 us" in out
    # The same latency is the same run, whoever says it.
    evaluate(f"{teacher}", *ONE, "--decision-latency", "450 us", "--json", tmp_path / "n.json")
    assert json.loads((tmp_path / "n.json").read_text())[0]["metrics"] == late["metrics"]


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes(teacher: Path, evaluate: Any, tmp_path: Path) -> None:
    grid = (teacher, f"late={teacher}@50us", *ONE, "--seed", 1, "--seed", 2)
    for jobs in (1, 3):
        evaluate(*grid, "--jobs", jobs, "--out", tmp_path / str(jobs))
    one, three = (opened(tmp_path / str(jobs) / "evaluation", "evaluation") for jobs in (1, 3))
    assert one.hash == three.hash
    assert one.files == three.files  # pictures and Parquet to the byte
    assert len(list((tmp_path / "1/finished-runs").iterdir())) == 4


def test_what_is_finished_is_kept_and_what_changed_is_run(
    teacher: Path, save_teacher: Any, evaluate: Any, tmp_path: Path
) -> None:
    def run(policy: object, *more: object) -> tuple[str, str]:
        """How many runs there are, and how many of them were in the cache."""
        seeds = ("--seed", 1, "--seed", 2, "--no-pictures")
        shown = figures(str(evaluate(policy, *ONE, *seeds, "--out", tmp_path / "o", *more)), "evaluate")
        return shown["runs"], shown.get("cached", "0").split()[0]

    assert run(teacher) == ("2", "0")
    first = opened(tmp_path / "o/evaluation", "evaluation")
    files = sorted((tmp_path / "o/finished-runs").iterdir())
    files[0].unlink()
    files[1].write_bytes(files[1].read_bytes()[:100])  # damaged: not believed
    assert run(teacher) == ("2", "0")
    files[0].unlink()
    assert run(teacher) == ("2", "1")
    assert opened(tmp_path / "o/evaluation", "evaluation") == first
    assert run(f"other-label={teacher}") == ("2", "2")
    assert run(teacher, "--seed", 3) == ("3", "2")
    save_teacher(tmp_path / "changed", gain=0.5)
    assert run(tmp_path / "changed") == ("2", "0")


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------


def test_ctrl_c_ends_all_processes_and_writes_no_evaluation(teacher: Path, tmp_path: Path) -> None:
    """Runs of minutes are under way when the signal comes.

    A shell without job control starts what it puts in the background with SIGINT ignored, and a program keeps it so: a
    job that was sent away is not ended by a Ctrl-C for another. The one under test is asked as if from a terminal.
    """
    command = [sys.executable, "-m", "rlcc.cli", "evaluate", str(teacher), f"b={teacher}@2us", "--jobs", "2"]
    grid = ["--scenario", "many-to-one:2", "--scenario", "many-to-one:64", "--duration", "20 s", "--out", str(tmp_path)]
    running = subprocess.Popen(
        [*command, *grid],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        for _ in range(600):
            workers = children(running.pid)
            if len(workers) >= 3:  # two, and Python's own resource tracker
                break
            time.sleep(0.1)
        assert len(workers) >= 3
        running.send_signal(signal.SIGINT)  # to the parent alone: it must end the others
        _, err = running.communicate(timeout=120)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
    assert (running.returncode, err.strip()) == (130, "interrupted")
    for _ in range(600):
        left = [pid for pid in workers if Path(f"/proc/{pid}").exists()]
        if not left:
            break
        time.sleep(0.1)
    assert not left
    assert not (tmp_path / "evaluation").exists()


def children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []


@pytest.mark.slow
def test_an_interrupted_report_leaves_the_older_one(
    teacher: Path, evaluate: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(teacher, *ONE, "--no-pictures", "--out", tmp_path)
    before = opened(tmp_path / "evaluation", "evaluation")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rlcc.evaluation.report.summary.markdown", interrupt)
    assert cli.main(["evaluate", str(teacher), *ONE, "--seed", "5", "--no-pictures", "--out", str(tmp_path)]) == 130
    assert opened(tmp_path / "evaluation", "evaluation") == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["evaluation", "finished-runs"]
    assert len(list((tmp_path / "finished-runs").iterdir())) == 2


# --- what is written -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(teacher: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evaluation without pictures."""
    return evaluated(teacher, tmp_path_factory.mktemp("written"), "--no-pictures")


def evaluated(teacher: Path, out: Path, *options: str) -> Path:
    """The evaluation of two policies in three networks with two seeds each."""
    grid = ("--scenario", "many-to-one:2", "--scenario", "long-short:3", "--scenario", "websearch:30%@leaf-spine:2x4x2")
    arguments = ["evaluate", str(teacher), f"late={teacher}@50us", *grid, "--seed", "1", "--seed", "2", *SHORT]
    assert cli.main([*arguments, *options, "--out", str(out)]) == 0
    return out / "evaluation"


def test_every_run_is_a_row_of_the_parquet_file(written: Path) -> None:
    table = pq.read_table(written / "runs.parquet").to_pylist()
    assert [(r["scenario"], r["policy"], r["seed"]) for r in table[:5]] == [
        ("many-to-one:2", "hand-made teacher", 1),
        ("many-to-one:2", "hand-made teacher", 2),
        ("many-to-one:2", "late", 1),
        ("many-to-one:2", "late", 2),
        ("long-short:3", "hand-made teacher", 1),
    ]
    assert len(table) == 12
    assert {r["decision_latency_ps"] for r in table} == {900_000, 50_000_000}
    assert all(0 < r["goodput"] < 0.926 for r in table)
    assert table[0]["recovery_us"] is None  # not a metric of many-to-one
    begin, end = (edge * 4 // 200 for edge in WINDOW_PS)
    assert {(r["duration_ps"], r["window_begin_ps"], r["window_end_ps"]) for r in table} == {(4 * MS, begin, end)}
    series = pq.read_table(written / "series.parquet")
    assert series.num_rows == 12 * 400
    assert len(series["flow_gbps"][0].as_py()) == 2


def test_the_manifest_names_policies_as_parents(written: Path, teacher: Path) -> None:
    manifest = opened(written, "evaluation")
    with by_name_or_path(str(teacher)) as named:
        assert manifest.parents == {"hand-made teacher": named.hash, "late": named.hash}
    assert [p["decision_latency_ps"] for p in manifest.details["policies"]] == [900_000, 50_000_000]


def test_the_tables_agree(written: Path) -> None:
    runs_of = pq.read_table(written / "runs.parquet").to_pylist()[:2]
    mean = (runs_of[0]["goodput"] + runs_of[1]["goodput"]) / 2
    half = 63.65674 * abs(runs_of[0]["goodput"] - runs_of[1]["goodput"]) / 2  # t of 1 degree of freedom at 99 %
    first = (written / "table.csv").read_text().splitlines()
    row = dict(zip(first[0].split(","), first[1].split(","), strict=True))
    assert float(row["goodput"]) == pytest.approx(mean)
    assert float(row["goodput_half_width"]) == pytest.approx(half, rel=1e-4)
    assert row["recovery_us"] == ""
    shown = (written / "table.md").read_text().splitlines()
    assert f"| many-to-one:2 | hand-made teacher | 0.9 us | {mean:.4f} ±{half:.4f} |" in shown[2]
    assert sum(line.startswith("|") for line in shown) == 2 + 6
    warnings = [line for line in shown if line.startswith("Warning: ")]
    assert "interval is wider" in warnings[0], "two seeds"


@pytest.mark.slow
def test_the_pictures_are_there_and_small(teacher: Path, tmp_path: Path) -> None:
    written = evaluated(teacher, tmp_path)
    drawn = sorted(p.name for p in written.glob("*.png"))
    assert drawn == [
        "flows-long-short-3.png",
        "flows-many-to-one-2.png",
        "goodput-latency.png",
        "queue-long-short-3.png",
        "queue-many-to-one-2.png",
        "queue-websearch-30-leaf-spine-2x4x2.png",
        "radar.png",
        "slowdown-websearch-30-leaf-spine-2x4x2.png",
    ]
    for name in drawn:
        content = (written / name).read_bytes()
        assert content.startswith(b"\x89PNG")
        assert 5_000 < len(content) < 300_000, name
        assert (written / name).with_suffix(".svg").read_text().startswith("<?xml")
        paper = (written / name).with_suffix(".pdf").read_bytes()
        assert paper.startswith(b"%PDF")
        assert b"/Type3" not in paper, "letters that publishers refuse"


def test_of_many_policies_there_are_several_pictures_with_no_more_than_eight_each() -> None:
    one = contenders.Contender("0", "hpcc", "baseline", "0" * 64, by_name("hpcc"), 0)
    many = tuple(replace(one, label=str(n)) for n in range(10))
    cells = tuple(Cell(name, name, Times(4 * MS, (MS, 3 * MS))) for name in ("many-to-one:2", "many-to-one:3"))
    grid = Grid(many, cells, (1, 2))
    results = Results(grid, [Outcome(2, {"at": float(n)}) for n in range(len(grid.runs()))])
    first, second = pictures.parts(results)
    assert [c.label for part in (first, second) for c in part.grid.contenders] == [c.label for c in many]
    assert max(len(part.grid.contenders) for part in (first, second)) <= pictures.TOGETHER
    for part in (first, second):
        for contender in part.grid.contenders:
            for cell in cells:
                assert part.of(contender, cell) == results.of(contender, cell)
    (alone,) = pictures.parts(Results(replace(grid, contenders=many[:8]), results.outcomes[:32]))
    assert len(alone.grid.contenders) == 8


@pytest.mark.slow
def test_a_run_in_which_nothing_arrives_is_drawn_too(teacher: Path, evaluate: Any, tmp_path: Path) -> None:
    evaluate(teacher, "--scenario", "incast:2", "--scenario", "many-to-one:1", "--duration", "1 us", "--out", tmp_path)
    assert (tmp_path / "evaluation/goodput-latency.png").is_file()


def test_every_metric_that_there_is_can_be_asked_for(written: Path) -> None:
    table = pq.read_table(written / "runs.parquet")
    about = {"policy", "name", "kind", "hash", "decision_latency_ps", "scenario", "seed", "duration_ps"}
    about |= {"core", "engines", "overload", "engine_queue", "window_begin_ps", "window_end_ps", "rlcc", "flows"}
    engines = {name for name in summary.METRICS if name.startswith(("engine_", "decision_latency"))}
    mixes = {name for name in summary.METRICS if name[1] == "_" or name.startswith(("round", "trimmed"))}  # elsewhere
    assert set(table.column_names) - about == set(summary.METRICS) - engines - mixes - KERNEL.keys()


def test_the_columns_asked_for_are_shown(teacher: Path, evaluate: Any) -> None:
    out = evaluate(teacher, *ONE, "--metric", "jain", "--metric", "queue_max_bytes")
    header, row = out.splitlines()[-2:]
    assert header.split() == ["scenario", "policy", "decides", "in", "Jain", "queue", "max", "B"]
    assert "±" not in row  # one seed says nothing of the spread


def row_of(metrics: dict[str, float], half_width: dict[str, float]) -> summary.Row:
    contender = contenders.Contender("x", "x", "baseline", "", None, 0)  # type: ignore[arg-type]
    return summary.Row("many-to-one:2", contender, 2, metrics, half_width)


def test_figures() -> None:
    row = row_of({"goodput": 0.91239, "recovery_us": nan, "cnps": 12345.6}, {"goodput": 0.00111, "cnps": nan})
    assert summary.figure(row, "goodput") == "0.9124 ±0.0011"
    assert summary.figure(row, "recovery_us") == summary.figure(row, "loss") == "-"
    assert summary.figure(row, "cnps") == "12,346"
    assert contenders.latency_text(row.contender) == "-"


def test_radar_scores_are_between_worst_and_best() -> None:
    ideal = {"goodput": 1024 / 1106, "fairness_min_max": 1.0, "loss": 0.0, "queue_mean_us": 0.0}
    best = pictures.scores(row_of(ideal | {"latency_mean_us": 4.0, "latency_p99_us": 4.0}, {}), Network())
    assert best == pytest.approx(dict.fromkeys(["goodput", "fairness", "latency", "p99", "delivered"], 1.0))
    poor = {"goodput": nan, "fairness_min_max": 0.5, "loss": 0.25, "queue_mean_us": 12.0, "latency_mean_us": 16.0}
    scores = pictures.scores(row_of(poor | {"latency_p99_us": 40.0, "slowdown_mean": 5.0}, {}), Network())
    assert scores == {"goodput": 0.0, "completion": 0.2, "latency": 0.25, "p99": 0.1, "delivered": 0.75}


@given(st.lists(st.integers(1, 50), min_size=1, max_size=200), st.integers(1, 8))
def test_slowdown_curves_rise_in_size_and_hold_every_flow(sizes: list[int], bins: int) -> None:
    size = np.array(sizes, dtype=np.int64) * 1000
    x, curves = pictures.slowdown_by_size(size, size.astype(np.float32), bins)
    assert len(x) <= max(bins, len(set(sizes)))
    assert all(a <= b for a, b in pairwise(x))
    assert (curves[:, 0] <= curves[:, 1]).all()
    assert min(sizes) <= x[0] <= x[-1] <= max(sizes)
    if len(set(sizes)) <= bins:
        assert x.tolist() == sorted(set(sizes))


def test_an_unknown_metric_is_no_key_error() -> None:
    with pytest.raises(InputError, match="no metric"):
        summary.check_metrics(["goodput", "nothing"])


def test_another_network_gives_other_runs_and_is_kept_apart(
    tmp_path: Path, evaluate: Callable[..., str], refused: Callable[..., str]
) -> None:
    network, out = tmp_path / "network.toml", tmp_path / "out"
    network.write_text('buffer = "100 KB"\n')
    arguments = ["hpcc", "dcqcn", "--scenario", "many-to-one:16", "--duration", "4 ms", "--seed", "1", "--jobs", "1"]
    evaluate(*arguments, "--no-pictures", "--out", out)
    plain = pq.read_table(out / "evaluation" / "runs.parquet")
    evaluate(*arguments, "--no-pictures", "--out", out, "--network", network)
    small = pq.read_table(out / "evaluation" / "runs.parquet")
    assert plain["queue_max_bytes"][1].as_py() > 100_000 >= small["queue_max_bytes"][1].as_py()
    assert opened(out / "evaluation", "evaluation").details["cells"][0]["network"] == {"buffer_bytes": 100_000}
    network.write_text("telemetry = false\n")
    assert "hpcc reads queue" in refused("evaluate", *arguments, "--network", network)
    network.write_text("lossless = true\nbuffer = '500 KB'\n")
    assert "bytes of headroom" in refused("evaluate", *arguments, "--network", network)


def test_json_onto_a_folder_is_refused_before_anything_runs(tmp_path: Path, refused: Callable[..., str]) -> None:
    assert "folder; name a" in refused("evaluate", "hpcc", "--json", tmp_path)

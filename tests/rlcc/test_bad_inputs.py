"""A hundred bad inputs, each told in one sentence that names it, with exit code 2, and nothing written.

Each is a file of the house with one thing changed, or a command line; all run in this process.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlcc import cli

ROOT = Path(__file__).resolve().parents[2]
TEACHER = ROOT / "fixtures" / "teachers" / "rl-cc-mlp"

RECIPE = (ROOT / "recipes" / "rl-cc.toml").read_text().replace("../fixtures/teachers/rl-cc-mlp", str(TEACHER))
POLICY = (TEACHER / "policy.toml").read_text()
BASELINE = next(ROOT.glob("netsim/**/dcqcn.toml")).read_text()
PROFILE = (ROOT / "emulator" / "profiles" / "ibex-small.toml").read_text()
SUITE = (ROOT / "rlcc" / "evaluation" / "suites" / "quick.toml").read_text()
TRAIN = (ROOT / "recipes" / "train-rl-cc-mlp.toml").read_text()
TEACHERS = ROOT / "fixtures" / "teachers"
AUTO, ACC = (
    (ROOT / "recipes" / f"{name}.toml").read_text().replace("../fixtures/teachers", str(TEACHERS))
    for name in ("auto-srla", "acc")
)
TRAIN_ACC = (ROOT / "recipes" / "train-acc.toml").read_text()
NETWORK = 'lossless = true\nbuffer = "32 MiB"\nclass_weights = [1, 3]\n'

LAST_ROW = r"\[\[action\.rows\]\]\nkmin_bytes = 2560000\n.*\n.*\n"
"""Of ACC's and HAECN's tables."""

Change = tuple[str, str, str]
"""What stands there, what stands there instead, and what is said."""

RECIPES: list[Change] = [
    ("trees = 10", "trees = true", "distill.trees: Input should be a valid integer, not true"),
    ("trees = 10", "trees = 10.0", "distill.trees: Input should be a valid integer, not 10.0"),
    ("trees = 10", 'trees = "10"', 'distill.trees: Input should be a valid integer, not "10"'),
    ("trees = 10", "trees = 0", "distill.trees: Input should be greater than or equal to 1"),
    ("trees = 10", "trees = 99999999", "distill.trees: Input should be less than or equal to 200"),
    ("trees = 10", "tree = 10", "distill.tree: no such key; did you mean trees?"),
    ("trees = 10", 'kind = "table"', "distill.kind: no such key"),
    ("trees = 10", "trees = [10]", "distill.trees: Input should be a valid integer, not a list"),
    ("trees = 10", "trees = 200\nborders = 65536", "distill.borders: Input should be less than or equal to 65535"),
    ("rounds = 6", "rounds = true", "distill.rounds: Input should be a valid integer, not true"),
    ("depth = 4", "depth = 4\nlearning_rate = [0]", "distill.learning_rate.0: Input should be greater than 0"),
    ("depth = 4", "depth = 4\nlearning_rate = [true]", "distill.learning_rate.0: Input should be a valid number"),
    (
        'exclude_features = ["action_1", "action_2"]',
        "exclude_features = 3",
        "distill.exclude_features: Input should be a valid array, not 3",
    ),
    (
        "uniform_state_samples = 0.2",
        "uniform_state_samples = nan",
        "distill.uniform_state_samples: Input should be a finite number",
    ),
    (
        "uniform_state_samples = 0.2",
        "uniform_state_samples = -1",
        "distill.uniform_state_samples: Input should be greater than or equal to 0",
    ),
    ("uniform_state_samples = 0.2", "uniform_samples = 0.2", "did you mean uniform_state_samples?"),
    ("[distill]", "[distil]", "distil: no such key; did you mean distill?"),
    ("[emulate]", "[emulatee]", "emulatee: no such key; did you mean emulate?"),
    ("format = 1", "format = 2", "format: Input should be 1"),
    ("format = 1", "format = true", "format: must be a whole number, not true"),
    ("format = 1", "format = 1.0", "format: must be a whole number, not 1.0"),
    ("format = 1\n", "", "format: is missing"),
    ("seed = 1\n", "seed = -1\n", "seed: Input should be greater than or equal to 0"),
    ("seed = 1\n", "seed = 1979-05-27\n", "1979-05-27 is of a type that no key here has"),
    ("seed = 1\n", f"seed = 1{'0' * 5000}\n", "is not valid TOML"),
    ('name = "rl-cc"', 'name = "RL CC"', "name: String should match pattern"),
    ('name = "rl-cc"', "name = 3", "name: Input should be a valid string, not 3"),
    ("teacher = ", "teachr = ", "teachr: no such key; did you mean teacher?"),
    (str(TEACHER), "/nowhere", "teacher: there is no /nowhere; train one with rlcc train or name another"),
    ('"many-to-one:2",', '"many-to-on:2",', "did you mean many-to-one:2?"),
    ('"many-to-one:2",', '"many-to-one:99999999",', "many-to-one:99999999 is not possible; choose 1 to 1048576"),
    ('"many-to-one:2",', '"incast:9999999",', "incast:9999999 is not possible; choose 1 to 8192"),
    ('"many-to-one:2",', '"many-to-one:8@star:99999999",', "99999999 hosts; 1 to 8192 are possible"),
    ('"many-to-one:2",', '"many-to-one:8@acc-fabrik",', "did you mean acc-fabric?"),
    ('"many-to-one:2",', '"websearch:101%",', "a load of 101 % is not possible; choose 1 to 100 %"),
    ('"many-to-one:2",', '"many-to-one:8",', "many-to-one:8 stands twice"),
    ('"many-to-one:2",', "2,", "Input should be a valid string, not 2"),
    ('duration = "50 ms"', "duration = 50", "50 has no unit; write it as text with one"),
    ('duration = "50 ms"', 'duration = "50"', "'50' is not a number with a unit"),
    ('duration = "50 ms"', 'duration = "50 min"', "has the unit 'min', which is none of ps, ns, us, ms, s"),
    ('duration = "50 ms"', 'duration = "0 ms"', "rollout.duration: Input should be greater than 0"),
    ('duration = "50 ms"', 'duration = "1e99 s"', "is more than anything in rlcc can be"),
    ("seeds = [1]", "seeds = [1, 1]", "1 stands twice"),
    ("seeds = [1]", "seeds = []", "rollout.seeds: List should have at least 1 item"),
    ("seeds = [1]", "seeds = 1", "rollout.seeds: Input should be a valid array, not 1"),
    ('target = "connectx6dx"', 'target = "connectx7"', "there is no target 'connectx7'"),
    ('target = "connectx6dx"', 'form = "brances"', "did you mean branches?"),
    ('target = "connectx6dx"', 'engine = "ibex-smal"', "did you mean ibex-small?"),
    ('target = "connectx6dx"', 'exclude_passes = ["rank"]', "did you mean ranks?"),
    ("max_table = 4096", "max_table = 1.5", "emit.max_table: Input should be a valid integer, not 1.5"),
    ('target = "connectx6dx"', "one_function = 1", "emit.one_function: Input should be a valid boolean, not 1"),
    ('profile = "ibex-small"', 'profile = "ibex-smal"', "there is no engine profile 'ibex-smal'"),
    ('profile = "ibex-small"', 'compiler = "clng"', "did you mean clang?"),
    ('profile = "ibex-small"', 'optimise = "-O9"', "'-O9' is not an optimisation level"),
    ('budget = "0.9 us"', 'budget = "0 us"', "a budget of 0 cannot be met"),
    ('budget = "0.9 us"', "budget = 0.9", "0.9 has no unit"),
    ('budget = "0.9 us"', 'budget = "0.9 us"\nproof = "no"', 'gate.proof: Input should be a valid boolean, not "no"'),
    ('budget = "0.9 us"', 'budget = "0.9 us"\nproff = true', "gate.proff: no such key; did you mean proof?"),
    ('12]\nwindow = ["110 ms"', '12]\nwindow = ["210 ms"', "the window must lie within the duration"),
    ('budget = "0.9 us"', 'budget = "0.9 us"\nmargin = "10 %"', "gate.margin: Input should be a valid number"),
    ("goodput = 0.005", "goodput = true", "goodput: True is no tolerance"),
    ("goodput = 0.005", "gootput = 0.005", "did you mean goodput?"),
    ("goodput = 0.005", 'goodput = "± 1 furlong"', "is no tolerance; write"),
    ("[gate]\n", '[[gate.property]]\nkind = "stepp"\n[gate]\n', "(did you mean step?)"),
    ("[rollout]", "[rollout", "is not valid TOML"),
    ("[rollout]", '[network]\nbufer = "1 MiB"\n[rollout]', "did you mean buffer?"),
    ("[rollout]", '[agents.q]\ninterface = "queue_markin"\n[rollout]', "did you mean queue_marking?"),
]
SCHEDULERS: list[Change] = [
    (
        "[[217_671, 2_150_843, ",
        "[[2_150_843, 217_671, ",
        "the thresholds [2150843, 217671, 10689924]; they must ascend",
    ),
    ("[[217_671, ", "[[9, 217_671, ", "demotion has 4 thresholds, for 5 levels, and class_weights name 4 queues"),
    (
        '[0, 0, 0, 0]\nnic_priorities = true\nclass_by = "sent"\ndemotion = [[217_671, ',
        '[0, 0, 0]\nnic_priorities = true\nclass_by = "sent"\ndemotion = [[',
        "demotion has 2 thresholds, and agents set 3; give it as many to begin with",
    ),
    (
        '"mlfq_thresholds"',
        '"mlfq_thresholds_8"',
        "agents of mlfq_thresholds cannot stand at those of mlfq_thresholds_8",
    ),
    ('"mlfq_thresholds"', '"long_flow"', "agents of mlfq_thresholds cannot stand at those of long_flow"),
    ('auto-srla"\nperiod', 'acc"\nperiod', "agents of queue_marking cannot stand at those of mlfq_thresholds"),
    ('period = "20 ms"', 'period = "10 ms"', "the period of network is shorter than a decision takes"),
]
MARKINGS: list[Change] = [
    ('period = "50 us"', 'period = "5 us"', "the period of queues is shorter than a decision takes"),
    ('"queue_marking"', '"queue_markings"', "did you mean queue_marking?"),
]
LEARNT_MARKINGS: list[Change] = [
    (
        "kmin_bytes = 20_000, kmax_bytes = 1_000_000",
        "kmin_bytes = 2_000_000, kmax_bytes = 1_000_000",
        "policy: row 0: kmax_bytes is below kmin_bytes",
    ),
    (
        'signal = "queue_bytes", first = 20_000',
        'signal = "queue_byte", first = 20_000',
        "agents of queue_marking are not told queue_byte; they are told queue_bytes, ",
    ),
    (
        'signal = "queue_bytes", first = 20_000',
        'signal = "rtt_ns", first = 20_000',
        "agents of queue_marking are not told rtt_ns; they are told queue_bytes, ",
    ),
    ('period = "50 us"', 'period = "5 us"', "the period is shorter than the decision takes; give a longer one"),
]
POLICIES: list[Change] = [
    ("window = 2", "window = true", "observation.window: Input should be a valid integer, not true"),
    ("window = 2", "window = 2.0", "observation.window: Input should be a valid integer, not 2.0"),
    ("bias = false", 'bias = "no"', 'architecture.bias: Input should be a valid boolean, not "no"'),
    ("bias = false", "bais = false", "architecture.bais: no such key; did you mean bias?"),
    ("hidden = [12]", "hidden = [12.0]", "architecture.hidden.0: Input should be a valid integer, not 12.0"),
    ('activation = "relu"', 'activation = "rellu"', "did you mean relu?"),
    ('order = "newest_first"', 'order = "newest"', "did you mean newest_first?"),
    ('base_rtt = "8192 ns"', "base_rtt = 8192", "observation.base_rtt: 8192 has no unit"),
    ("beta = 1.5", 'beta = "1.5"', "beta: Input should be a valid number"),
    ("beta = 1.5", "betta = 1.5", "no such key; did you mean beta?"),
    ('kind = "rl_cc_congestion"', 'kind = "rl_cc_congestions"', "(did you mean rl_cc_congestion?)"),
    ('kind = "tanh_map"', 'kind = "tanhmap"', "(did you mean tanh_map?)"),
    ('rate_max = "1.0 line"', 'rate_max = "2 line"', "is not within 0 and line rate"),
    ("[limits]", "[limit]", "limit: no such key; did you mean limits?"),
]
NETWORKS: list[Change] = [
    ("lossless = true", "lossless = 1", "lossless is 1; it must be true or false"),
    ("lossless = true", "losless = true", "did you mean lossless?"),
    ('buffer = "32 MiB"', "buffer = 32", "buffer: 32 has no unit"),
    ('buffer = "32 MiB"', 'buffer = "1 B"', "it must hold 2 packets and at most 1 s"),
    ("class_weights = [1, 3]", "class_weights = [1, true]", "give 1 to"),
    ("class_weights = [1, 3]", "burst_packets = 1.5", "it must be a whole number"),
]
SUITES: list[Change] = [
    ("seeds = [1, 2, 3]", "seeds = [1, 2, 2.0]", "seeds.2: Input should be a valid integer, not 2.0"),
    ('"hpcc"', '"hpc"', "did you mean hpcc?"),
    ('network = { link = "400 Gb/s" }', 'network = { lnk = "400 Gb/s" }', "did you mean link?"),
]
BASELINES: list[Change] = [
    ("alpha_divisor = 2", "alpha_divisor = true", "alpha_divisor: Input should be a valid"),
    ('kind = "dcqcn"', 'kind = "dcqn"', "(did you mean dcqcn?)"),
    ("pmax = 0.3", 'pmax = "0.3"', "pmax: Input should be a valid number"),
]
PROFILES: list[Change] = [
    ("mhz = 330", "mhz = true", "clock.mhz: Input should be a valid"),
    ("wait_states = 0", "wait_states = 0.5", "wait_states: Input should be a valid integer, not 0.5"),
    ("branch_target_alu = false", "branch_target_al = false", "branch_target_al: no such key; did you mean"),
]
TRAININGS: list[Change] = [
    ("[training]", "[trainin]", "trainin: no such key; did you mean training?"),
    (
        'kernels = "amd"',
        'kernels = "avx512"',
        "training.kernels: Input should be 'any', 'intel' or 'amd', not \"avx512\"",
    ),
]
LINES: list[tuple[str, str]] = [
    ("disti x", "'disti'. (did you mean"),
    ("run recipe.toml --from distil", "you mean distill?"),
    ("rollout TEACHER --scenario many-to-on:8 --out out", "did you mean many-to-one:8?"),
    ("evaluate hpc --scenario many-to-one:8", "you mean hpcc?"),
]


def _files() -> Iterator[tuple[str, str, str, Change]]:
    for name, text, line, changes in (
        ("recipe.toml", RECIPE, "run FILE --out out", RECIPES),
        ("recipe.toml", AUTO, "run FILE --out out", SCHEDULERS),
        ("recipe.toml", ACC, "run FILE --out out", MARKINGS),
        ("train.toml", TRAIN_ACC, "train FILE --out out", LEARNT_MARKINGS),
        ("policy.toml", POLICY, "check FOLDER", POLICIES),
        ("network.toml", NETWORK, "evaluate hpcc --scenario many-to-one:2 --network FILE", NETWORKS),
        ("suite.toml", SUITE, "evaluate hpcc --suite FILE", SUITES),
        ("baseline.toml", BASELINE, "evaluate FILE --scenario many-to-one:2 --duration '1 ms'", BASELINES),
        ("profile.toml", PROFILE, "run recipe.toml --out out", PROFILES),
        ("train.toml", TRAIN, "train FILE --out out", TRAININGS),
    ):
        for change in changes:
            yield name, text, line, change


def told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What is said last; exit code 2, one sentence, no defect."""
    assert cli.main(arguments) == 2
    error = capsys.readouterr().err
    assert "defect" not in error
    assert "Traceback" not in error
    sentence = error.splitlines()[-1]
    assert sentence.startswith(("error: ", "Error: "))
    assert sentence.startswith("Error: ") or error.count("\n") == 1
    return sentence


@pytest.mark.parametrize(("name", "text", "line", "change"), list(_files()), ids=lambda one: str(one)[:60])
def test_a_file_with_one_thing_wrong(
    name: str, text: str, line: str, change: Change, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    was, instead, says = change
    assert was in text
    (tmp_path / "teacher").mkdir()
    shutil.copy(TEACHER / "policy.safetensors", tmp_path / "teacher")
    folder = tmp_path / "teacher" if name == "policy.toml" else tmp_path
    (folder / name).write_text(text.replace(was, instead, 1))
    if name == "profile.toml":
        recipe = RECIPE.replace('profile = "ibex-small"', 'profile = "profile.toml"')
        (tmp_path / "recipe.toml").write_text(recipe)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    words = [{"FILE": name, "FOLDER": "teacher"}.get(word, word) for word in line.replace("'1 ms'", "1ms").split()]
    assert says in told(words, capsys)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "cut", "says"),
    [
        (
            "auto-srla",
            r"(?s)\[action\.knobs\.threshold_3.*(?=\[provenance\])",
            "it must set threshold_1_bytes, threshold_2_bytes, threshold_3_bytes",
        ),
        ("auto-lrla", r", \{ path_number = 2 \}", "out.weight has the shape [10, 16]"),
        ("acc", LAST_ROW, "out.weight has the shape [20, 40]"),
        ("haecn", LAST_ROW, "out.weight has the shape [20, 40]"),
    ],
)
def test_a_network_with_another_number_of_outputs(
    name: str, cut: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = (TEACHERS / name / "policy.toml").read_text()
    (tmp_path / "policy.toml").write_text(re.sub(cut, "", policy))
    shutil.copy(TEACHERS / name / "policy.safetensors", tmp_path)
    assert says in told(["check", str(tmp_path)], capsys)


@pytest.mark.parametrize(("line", "says"), LINES)
def test_a_line_with_one_thing_wrong(
    line: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert says in told([str(TEACHER) if word == "TEACHER" else word for word in line.split()], capsys)
    assert list(tmp_path.iterdir()) == []


def test_there_are_a_hundred() -> None:
    assert len(list(_files())) + len(LINES) >= 100

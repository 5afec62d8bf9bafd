"""The firmware folder of a model: its C beside NumPy, its vectors and what they catch, the command.

Slow: each model in each form and by each compiler; the fast suite takes each model once.
"""

import json
import os
import re
import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reproducible import examples
from selftests import passed

from codegen.choose import Limits
from codegen.differences import differences
from codegen.emit import KIND
from codegen.lower import Options
from codegen.model_body import at_most, emit_model
from codegen.vectors import make
from decision.artefact.manifest import opened
from decision.artefact.output import writing
from decision.ir.forest import Branch, Leaf
from decision.policy.model import GridFeature, Model
from rlcc.cli import main

RTT, RATE, QUEUE = (
    GridFeature("rtt", 10, 0, 4096),
    GridFeature("rate", 20, 0, 1 << 20),
    GridFeature("queue", -6, -9, 99),
)
FEATURES = (RTT, RATE, QUEUE)


def random_tree(rng, outputs: int, depth: int, only=None, bounds=None) -> Leaf | Branch:
    """A tree without a branch that its path decides. ``only``: the one output that it works for."""
    bounds = bounds or [(f.low, f.high) for f in FEATURES]
    feature = int(rng.integers(0, len(FEATURES)))
    low, high = bounds[feature]
    if depth == 0 or low == high or rng.random() < 0.1:
        values = rng.integers(-5000, 5000, outputs)
        return Leaf(tuple(int(v) if only in (None, k) else 0 for k, v in enumerate(values)))
    t = int(rng.integers(low, high))
    above, below = ([*bounds[:feature], part, *bounds[feature + 1 :]] for part in ((t + 1, high), (low, t)))
    return Branch(
        feature, t, random_tree(rng, outputs, depth - 1, only, above), random_tree(rng, outputs, depth - 1, only, below)
    )


def random_model(seed: int, task: str, outputs: int, trees: int = 5, *, one_output_a_tree: bool = False) -> Model:
    rng = np.random.default_rng(seed)
    grown = [random_tree(rng, outputs, 4, n % outputs if one_output_a_tree else None) for n in range(trees)]
    bias = tuple(int(b) for b in rng.integers(-500, 500, outputs))
    return Model(FEATURES, tuple(grown), bias, 8, task, cut=int(rng.integers(-2000, 2000)) if task == "binary" else 0)


MODELS = {
    "regression": random_model(0, "regression", 1),
    "two targets": random_model(1, "regression", 2),
    "binary": random_model(2, "binary", 1),
    "classes": random_model(3, "argmax", 3),
    "classes, a tree each": random_model(4, "argmax", 3, 6, one_output_a_tree=True),
    "no tree": Model(FEATURES, (), (7, 7), 0, "argmax"),
    "the whole range": Model(
        (GridFeature("x", 0, -(2**31), 2**31 - 1),),
        (Branch(0, -(2**31), Branch(0, 2**31 - 2, Leaf((2**31 - 1,)), Leaf((0,))), Leaf((-(2**31),))),),
        (0,),
        0,
        "regression",
    ),
}


ROOMY = Limits(table=1 << 16)
FORMS = {"auto": Options(), "branches": Options(form="branches"), "joint": Options(form="joint", limits=ROOMY)}


def rows_of(model: Model, seed: int, count: int = 500):
    """Rows anywhere, and on, below and above thresholds."""
    rng = np.random.default_rng(seed)
    low, high = (np.array([getattr(f, end) for f in model.features], dtype=np.int64) for end in ("low", "high"))
    rows = rng.integers(low, high + 1, size=(count, len(low)), dtype=np.int64)
    near = rows.copy()
    for feature, thresholds in model.forest.thresholds().items():
        near[:, feature] = rng.choice(thresholds, count) + rng.integers(-1, 3, count)
    return np.concatenate([rows, np.clip(near, low, high)])


def decided(model: Model, rows):
    """What the C is to set [N, knobs]."""
    return model.predict(rows).reshape(len(rows), -1)


@pytest.mark.slow_except(
    "binary-joint", "regression-auto", "the whole range-branches", "two targets-auto", "no tree-auto"
)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", MODELS)
def test_the_c_is_the_model(case, form, in_c):
    model = MODELS[case]
    rows = rows_of(model, 5)
    np.testing.assert_array_equal(in_c(model, rows, FORMS[form]), decided(model, rows))


@given(
    seed=st.integers(0, 10**9), task=st.sampled_from([("regression", 1), ("argmax", 2), ("argmax", 4), ("binary", 1)])
)
@settings(
    max_examples=examples(12, fewest=4),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_the_c_of_any_model_is_the_model(in_c, seed, task):
    model = random_model(seed, *task, trees=3)
    rows = rows_of(model, 0, 100)
    np.testing.assert_array_equal(in_c(model, rows), decided(model, rows))


@pytest.mark.slow_except(
    "gcc-regression", "gcc-binary", "gcc-classes", "gcc-no tree", "gcc-the whole range", "gcc-two targets"
)
@pytest.mark.parametrize("case", MODELS)
def test_the_self_test_runs_clean_with_every_compiler(case, tmp_path, compiler, run):
    emit_model(MODELS[case], tmp_path / "firmware", seed=3)
    done = run("make", "-s", "-f", tmp_path / "firmware/rlcc_policy.mk", "check", f"CC={' '.join(compiler)}")
    assert (done.returncode, done.stderr) == (0, "")
    vectors = opened(tmp_path / "firmware", KIND).details["vectors"]
    assert done.stdout == f"0 of {vectors} vectors wrong\n"


def test_cxx_includes_the_header(tmp_path, run, rendered):
    for file, text in rendered(MODELS["two targets"]).items():
        (tmp_path / file).write_text(text)
    (tmp_path / "main.cpp").write_text(
        '#include "rlcc_policy.h"\n'
        "int main() { return sizeof(rlcc_event) == 12 && sizeof(rlcc_action) == 8 ? 0 : 1; }\n"
    )
    cxx = os.environ.get("CXX", "c++").split()
    done = run(*cxx, "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", tmp_path / "main.cpp")
    assert done.returncode == 0, done.stderr


def mutants(c: str):
    """The C with one thing wrong, each with the name of what is."""
    for number, found in enumerate(re.finditer(r"(>|<=) (\(?-?\d+\)?)\) \{ /\*", c)):
        t, turned = int(found[2].strip("()")), {">": "<=", "<=": ">"}[found[1]]
        for step in (-1, 1):
            yield f"threshold {number} {step:+d}", c[: found.start(2)] + f"({t + step})" + c[found.end(2) :]
        yield f"compare {number} turned", c[: found.start(1)] + turned + c[found.end(1) :]
        yield f"equal {number}", c[: found.start(1)] + {">": ">=", "<=": "<"}[found[1]] + c[found.end(1) :]
    for number, found in enumerate(re.finditer(r"(?:leaf|sum_of_\d \+)= (\(?-?\d+\)?);", c)):
        yield f"leaf {number} +1", c[: found.start(1)] + f"({found[1]} + 1)" + c[found.end(1) :]
    for number, found in enumerate(re.finditer(r"\n    sum_of_\d \+= tree_\w+\(.*;", c)):
        yield f"tree {number} lost", c[: found.start()] + c[found.end() :]
    yield "the cut's class is the other", c.replace("? (uint32_t)1U : 0U;", "? (uint32_t)0U : 1U;")
    for number, found in enumerate(re.finditer(r"\((\w+) > (\w+)\) \? (?:\(uint32_t\))?\dU", c)):
        yield (
            f"class {number + 1} wins ties",
            c[: found.start()] + c[found.start() : found.end()].replace(">", ">=") + c[found.end() :],
        )


TIES = Model(
    FEATURES, (Branch(0, 9, Leaf((4, 4, 2)), Branch(1, 8, Leaf((1, 2, 2)), Leaf((3, 1, 3)))),), (0, 0, 0), 0, "argmax"
)


@pytest.mark.parametrize(
    "model",
    [random_model(7, "binary", 1, 1), random_model(9, "regression", 1, 2), random_model(8, "regression", 2, 1), TIES],
)
def test_the_vectors_catch_every_mutant(model, tmp_path, host_compiler, run, in_c):
    """Threshold, compare, leaf, tree, tie, cut: each wrong in turn, and the self-test says so. Of a class some do not
    show, whatever the features are."""
    emit_model(model, tmp_path / "firmware", options=FORMS["branches"])
    folder = tmp_path / "firmware"
    c = (folder / "rlcc_policy.c").read_text()
    found = {name: text for name, text in mutants(c) if text != c}
    assert len(found) > 7
    rows = rows_of(model, 6, 3000)
    accepted = passed(list(found.values()), folder, host_compiler, run)
    missed = [
        name
        for (name, text), kept in zip(found.items(), accepted, strict=True)
        if kept and (model.task == "regression" or np.any(in_c(model, rows, source=text) != decided(model, rows)))
    ]
    assert missed == []


def test_every_threshold_and_every_branch_is_among_the_vectors():
    model = MODELS["classes"]
    vectors, edges = make(model.program(), {}, seed=0)
    for feature, thresholds in model.forest.thresholds().items():
        seen = set(vectors.columns[f"event.{model.fields[feature]}"].tolist())
        assert {t + step for t in thresholds for step in (-1, 0, 1)} <= seen
    assert edges.hit == edges.wanted
    assert edges.visits_made > 0.9 * edges.visits_wanted  # of sums that are far apart, few show which is the greatest


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    for name in ("first", "second"):
        emit_model(MODELS["binary"], tmp_path / name, seed=4)
    first, second = ({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("first", "second"))
    assert first == second
    emit_model(MODELS["binary"], tmp_path / "second", seed=5)
    assert (tmp_path / "second/vectors.csv").read_bytes() != first["vectors.csv"]
    assert (tmp_path / "second/rlcc_policy.c").read_bytes() == first["rlcc_policy.c"]


def test_the_csv_holds_what_the_model_says(tmp_path):
    model = MODELS["two targets"]
    emit_model(model, tmp_path / "firmware")
    lines = (tmp_path / "firmware/vectors.csv").read_text().splitlines()
    assert lines[0] == "kind,event.rtt_q10,event.rate_q20,event.queue_qm6,expect.out_0,expect.out_1"
    table = np.array([[int(v) for v in line.split(",")[1:]] for line in lines[1:]])
    np.testing.assert_array_equal(model.forest.evaluate(table[:, :3]), table[:, 3:5])
    assert Model.from_json(json.loads((tmp_path / "firmware/model.json").read_text())) == model


def test_the_folder_is_as_emitted_until_a_byte_of_it_changes(tmp_path):
    emit_model(MODELS["classes"], tmp_path / "firmware", seed=2)
    assert differences(tmp_path / "firmware") == []
    c = tmp_path / "firmware/rlcc_policy.c"
    c.write_text(c.read_text().replace(" > ", " >= ", 1))
    sealed_anew(tmp_path / "firmware")
    assert differences(tmp_path / "firmware") == ["rlcc_policy.c"]


def sealed_anew(folder):
    """The folder with a manifest over what is in it now, as anybody could write one."""
    manifest = opened_unchecked(folder)
    with writing(
        folder.parent / "sealed", KIND, parents=manifest["parents"], seed=manifest["seed"], details=manifest["details"]
    ) as work:
        for path in folder.iterdir():
            if path.name != "manifest.json":
                (work / path.name).write_bytes(path.read_bytes())
    shutil.rmtree(folder)
    (folder.parent / "sealed").rename(folder)


def opened_unchecked(folder):
    return json.loads((folder / "manifest.json").read_text())


HOSTILE = ("a b", "a_b", "*/ int", "x\\", "??/", "int", "1", "ü", "a" * 99, "", '"')


def test_any_feature_or_class_name_gives_c_that_compiles(in_c):
    features = tuple(GridFeature(name, 0, 0, 9) for name in HOSTILE)
    names = Model(features, (), (0,), 0, "regression").fields
    assert names[:2] == ["a_b_q0", "a_b_2_q0"]
    assert len(set(names)) == len(names)
    trees = tuple(Branch(f, 4, Leaf((f, 0)), Leaf((0, f))) for f in range(1, len(features)))
    model = Model(features, trees, (0, 0), 0, "argmax", classes=('*/ "', "\\\n"))
    rows = rows_of(model, 0, 50)
    assert in_c(model, rows).tolist() == decided(model, rows).tolist()


def test_the_header_says_how_exact_it_is(rendered):
    exact = rendered(MODELS["classes"])["rlcc_policy.h"]
    assert "to the bit" in exact
    assert "is the library's" in exact
    model = Model(FEATURES, MODELS["classes"].trees, (0, 0, 0), 8, "argmax", error=(1e-3, 0, 0), margin=1.234e-3)
    near = rendered(model)["rlcc_policy.h"]
    assert "within 1.0e-3" in near or "within 1.1e-3" in near
    assert "by more than 1.3e-3" in near
    assert [at_most(v) for v in (0.0, 0.00101, 0.99)] == ["0", "1.1e-3", "9.9e-1"]


STEP = Model(
    (RTT, RATE), (Branch(0, 51, Leaf((3, 0)), Branch(1, 1 << 19, Leaf((-4, 1)), Leaf((0, 2)))),), (1, 0), 4, "argmax"
)


def test_the_c_reads_like_this(rendered):
    """The whole file, for a reader to judge."""
    c = rendered(STEP, FORMS["branches"])["rlcc_policy.c"]
    expected = """
{
    const int32_t rtt_q10 = event->rtt_q10;
    const int32_t rate_q20 = event->rate_q20;
    int32_t sum_of_0 = 1; /* bias */
    int32_t sum_of_1 = 0; /* bias */
    /* tree 0 */
    if (rtt_q10 <= 51) { /* not rtt > 0.0498046875 */
        if (rate_q20 > 524288) { /* rate > 0.5 */
            sum_of_0 += (-4);
            sum_of_1 += 1;
        } else {
            sum_of_1 += 2;
        }
    } else {
        sum_of_0 += 3;
    }
    const uint32_t class_1 = (sum_of_1 > sum_of_0) ? (uint32_t)1U : 0U;

    return class_1;
}
"""
    assert c.split("uint32_t rlcc_decide(const rlcc_event *event)")[1] == expected


@pytest.mark.slow_except("classes")
@pytest.mark.parametrize("case", ["binary", "classes", "two targets", "no tree"])
def test_the_firmware_on_the_core_is_the_model(case, tmp_path):
    """Every vector on the Verilated core."""
    from emulator.run import emulate

    emit_model(MODELS[case], tmp_path / "firmware")
    report = emulate(tmp_path / "firmware", profile="ibex-small")
    assert report.passed, report


@pytest.fixture
def catboost_model(tmp_path):
    from catboost import CatBoostRegressor

    rng = np.random.default_rng(0)
    x = rng.integers(0, 4096, (200, 2)) / 1024
    options = {"iterations": 3, "depth": 2, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    CatBoostRegressor(**options).fit(x, x[:, 0] * x[:, 1]).save_model(str(tmp_path / "model.cbm"))
    (tmp_path / "grid.toml").write_text(
        "".join(f"[features.{f}]\nlow = 0\nhigh = 4\nfraction_bits = 10\n" for f in (0, 1))
    )
    return tmp_path


def test_the_command_takes_a_model_and_its_grid(catboost_model, capsys):
    folder = catboost_model
    arguments = ["emit", str(folder / "model.cbm"), "--grid", str(folder / "grid.toml"), "--out", str(folder / "out")]
    assert main(arguments) == 0
    assert "3 trees of depth <= 2" in capsys.readouterr().out
    manifest = opened(folder / "out", KIND)
    assert set(manifest.parents) == {"model", "grid"}
    assert [f["field"] for f in manifest.details["features"]] == ["x0_q10", "x1_q10"]
    # The integer model that is beside the C is a model too, and gives the same C.
    assert main(["emit", str(folder / "out/model.json"), "--out", str(folder / "again")]) == 0
    assert (folder / "again/rlcc_policy.c").read_text() == (folder / "out/rlcc_policy.c").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["model.cbm"], "'0', '1'"),
        (["model.cbm", "--grid", "none.toml"], "no file"),
        (["model.cbm", "--grid", "grid.toml", "--target", "generic"], "are of policies"),
        ([".", "--grid", "grid.toml"], "--grid"),
        (["none.cbm"], "there is no"),
    ],
)
def test_the_command_says_what_is_wrong(catboost_model, capsys, arguments, sentence):
    paths = [str(catboost_model / a) if "." in a else a for a in arguments]
    assert main(["emit", *paths, "--out", str(catboost_model / "out")]) == 2
    assert sentence in capsys.readouterr().err
    assert not (catboost_model / "out").exists()


def test_a_grid_may_hold_features_that_no_tree_asks_for(rendered):
    header = rendered(Model(FEATURES, (), (0,), 0, "regression"))["rlcc_policy.h"]
    assert header.count("(not used") == 3


@pytest.mark.slow
def test_the_compilers_options_are_kept_and_its_passes_dumped(catboost_model):
    folder = catboost_model
    arguments = ["emit", str(folder / "model.cbm"), "--grid", str(folder / "grid.toml"), "--out", str(folder / "out")]
    assert main([*arguments, "--form", "branches", "--dump-passes", str(folder / "passes")]) == 0
    details = opened(folder / "out", KIND).details
    assert (details["compiled"]["form"], details["form"]["form"]) == ("branches", "branches")
    assert (folder / "passes/03-trees.txt").read_text().startswith("sum 0: bias ")
    assert "0 B of constant tables" in (folder / "out/rlcc_policy.h").read_text()
    assert main([*arguments, "--max-cycles", "1"]) == 2

"""The firmware folder of a model: its C beside NumPy, its vectors and what they catch, the command."""

import ctypes
import json
import os
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codegen.choose import Limits
from codegen.lower import Options
from codegen.model_emit import KIND, at_most, emit_model, render
from codegen.model_print import field_names, print_trees
from codegen.model_vectors import make, random_grid
from decision.forest import Branch, Leaf
from decision.manifest import opened
from decision.model import GridFeature, Model
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


def rendered(model: Model, options: Options | None = None) -> dict[str, str]:
    return render(model, print_trees(model, options or Options()), "model.cbm", "0" * 64)


@pytest.fixture
def in_c(tmp_path, host_compiler, run):
    """Outputs [N, outputs] and returned values [N] of a model's C for integer rows."""

    def call(model: Model, rows, name="model", options=None):
        for file, text in rendered(model, options).items():
            (tmp_path / file).write_text(text)
        library = tmp_path / f"{name}.so"
        flags = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared", "-fPIC")
        made = run(*host_compiler, *flags, "-o", library, tmp_path / "rlcc_model.c")
        assert made.returncode == 0, made.stderr
        predict = ctypes.CDLL(str(library)).rlcc_predict
        predict.restype = ctypes.c_int32
        out, x = (ctypes.c_int32 * model.outputs)(), ctypes.c_int32 * len(model.features)
        outputs, returned = [], []
        for row in rows.tolist():
            returned.append(predict(x(*row), out))
            outputs.append(list(out))
        return np.array(outputs, dtype=np.int64), np.array(returned, dtype=np.int64)

    return call


def returned(model: Model, rows):
    predicted = model.predict(rows)
    return predicted[:, 0] if model.task == "regression" else predicted


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", MODELS)
def test_the_c_is_the_model(case, form, in_c):
    model = MODELS[case]
    rows = np.concatenate([make(model, seed=5, random_rows=64).rows, random_grid(model, np.random.default_rng(9), 500)])
    outputs, values = in_c(model, rows, options=FORMS[form])
    np.testing.assert_array_equal(outputs, model.evaluate(rows))
    np.testing.assert_array_equal(values, returned(model, rows))


@given(
    seed=st.integers(0, 10**9), task=st.sampled_from([("regression", 1), ("argmax", 2), ("argmax", 4), ("binary", 1)])
)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_the_c_of_any_model_is_the_model(in_c, seed, task):
    model = random_model(seed, *task, trees=3)
    rows = make(model, seed=0, random_rows=32).rows
    outputs, values = in_c(model, rows, name=f"m{seed}_{task[0]}{task[1]}")
    np.testing.assert_array_equal(outputs, model.evaluate(rows))
    np.testing.assert_array_equal(values, returned(model, rows))


@pytest.mark.parametrize("case", MODELS)
def test_the_self_test_runs_clean_with_every_compiler(case, tmp_path, compiler, run):
    emit_model(MODELS[case], tmp_path / "firmware", name="model.cbm", seed=3)
    done = run("make", "-s", "-f", tmp_path / "firmware/rlcc_model.mk", "check", f"CC={' '.join(compiler)}")
    assert (done.returncode, done.stderr) == (0, "")
    vectors = opened(tmp_path / "firmware", KIND).details["vectors"]
    assert done.stdout == f"0 of {vectors} vectors wrong\n"


def test_cxx_includes_the_header(tmp_path, run):
    for file, text in rendered(MODELS["classes"]).items():
        (tmp_path / file).write_text(text)
    (tmp_path / "main.cpp").write_text(
        '#include "rlcc_model.h"\nint main() { return sizeof(rlcc_features) == 12 ? 0 : 1; }\n'
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
    for number, found in enumerate(re.finditer(r"leaf = (\(?-?\d+\)?);", c)):
        yield f"leaf {number} +1", c[: found.start(1)] + f"({found[1]} + 1)" + c[found.end(1) :]
    for number, found in enumerate(re.finditer(r"\n    sum_\d \+= tree_\w+\(x->.*;", c)):
        yield f"tree {number} lost", c[: found.start()] + c[found.end() :]
    yield "the cut's class is the other", c.replace("? 1 : 0;", "? 0 : 1;")
    for number, found in enumerate(re.finditer(r"> greatest", c)):
        yield f"class {number + 1} wins ties", c[: found.start()] + ">= greatest" + c[found.end() :]


TIES = Model(
    FEATURES, (Branch(0, 9, Leaf((4, 4, 2)), Branch(1, 8, Leaf((1, 2, 2)), Leaf((3, 1, 3)))),), (0, 0, 0), 0, "argmax"
)


@pytest.mark.parametrize("model", [random_model(7, "binary", 1, 1), random_model(8, "regression", 2, 1), TIES])
def test_the_vectors_catch_every_mutant(model, tmp_path, host_compiler, run):
    """Threshold, compare, leaf, tree, tie, cut: each wrong in turn, and the self-test says so."""
    emit_model(model, tmp_path / "firmware", name="model", options=FORMS["branches"])
    folder = tmp_path / "firmware"
    c = (folder / "rlcc_model.c").read_text()
    found = {name: text for name, text in mutants(c) if text != c}
    assert len(found) > 7
    # One program: every mutant under its own names, so that one build tries them all.
    calls = []
    for number, text in enumerate(found.values()):
        (folder / f"mutant{number}.c").write_text(text.replace("rlcc_predict", f"mutant{number}"))
        calls.append(f"int32_t mutant{number}(const rlcc_features *x, int32_t *out);")
    test = (folder / "rlcc_model_selftest.c").read_text()
    body = test.replace(
        "int main(void)", "static size_t wrong_of(int32_t (*rlcc_predict)(const rlcc_features *, int32_t *))"
    )
    body = re.sub(r"    printf\(\"%lu of.*\n.*\n}", "    return wrong;\n}", body)
    lines = [f'    printf("%lu\\n", (unsigned long)wrong_of(mutant{n}));' for n in range(len(found))]
    main_c = "\n".join([*body.split("typedef struct")[:1], *calls, "typedef struct" + body.split("typedef struct")[1]])
    (folder / "all.c").write_text(main_c + "\nint main(void)\n{\n" + "\n".join(lines) + "\n    return 0;\n}\n")
    program = tmp_path / "all"
    sources = [folder / f"mutant{n}.c" for n in range(len(found))]
    built = run(*host_compiler, "-std=c99", "-w", "-O0", f"-I{folder}", "-o", program, folder / "all.c", *sources)
    assert built.returncode == 0, built.stderr
    wrong = [int(line) for line in run(program).stdout.splitlines() if line.isdigit()]
    assert len(wrong) == len(found)
    missed = [name for name, count in zip(found, wrong, strict=True) if count == 0]
    assert missed == []


def test_every_threshold_and_both_sides_of_every_branch_are_among_the_vectors():
    model = MODELS["classes"]
    vectors = make(model, seed=0)
    for feature, thresholds in model.thresholds().items():
        seen = set(vectors.rows[:, feature].tolist())
        for point in {t + step for t in thresholds for step in (-1, 0, 1)}:
            low, high = model.features[feature].low, model.features[feature].high
            assert point in seen or not low <= point <= high
    low, high = (np.array([getattr(f, end) for f in FEATURES]) for end in ("low", "high"))
    assert np.all((vectors.rows >= low) & (vectors.rows <= high))
    assert vectors.visited == vectors.branches


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    for name in ("first", "second"):
        emit_model(MODELS["binary"], tmp_path / name, name="model.cbm", seed=4)
    first, second = ({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("first", "second"))
    assert first == second
    emit_model(MODELS["binary"], tmp_path / "second", name="model.cbm", seed=5)
    assert (tmp_path / "second/vectors.csv").read_bytes() != first["vectors.csv"]
    assert (tmp_path / "second/rlcc_model.c").read_bytes() == first["rlcc_model.c"]


def test_the_csv_holds_what_the_model_says(tmp_path):
    model = MODELS["two targets"]
    emit_model(model, tmp_path / "firmware", name="model")
    lines = (tmp_path / "firmware/vectors.csv").read_text().splitlines()
    assert lines[0] == "kind,rtt_q10,rate_q20,queue_qm6,expect.out_0,expect.out_1,expect.return"
    table = np.array([[int(v) for v in line.split(",")[1:]] for line in lines[1:]])
    np.testing.assert_array_equal(model.evaluate(table[:, :3]), table[:, 3:5])
    np.testing.assert_array_equal(table[:, 3], table[:, 5])
    assert Model.from_json(json.loads((tmp_path / "firmware/model.json").read_text())) == model


HOSTILE = ("a b", "a_b", "*/ int", "x\\", "??/", "int", "1", "ü", "a" * 99, "", '"')


def test_any_feature_or_class_name_gives_c_that_compiles(in_c):
    features = tuple(GridFeature(name, 0, 0, 9) for name in HOSTILE)
    names = field_names(features)
    assert names[:2] == ["a_b_q0", "a_b_2_q0"]
    assert len(set(names)) == len(names)
    trees = tuple(Branch(f, 4, Leaf((f, 0)), Leaf((0, f))) for f in range(1, len(features)))
    model = Model(features, trees, (0, 0), 0, "argmax", classes=('*/ "', "\\\n"))
    rows = make(model, seed=0, random_rows=16).rows
    assert in_c(model, rows, name="hostile")[0].tolist() == model.evaluate(rows).tolist()


def test_the_header_says_how_exact_it_is():
    exact = rendered(MODELS["classes"])["rlcc_model.h"]
    assert "to the bit" in exact
    assert "the class is the library's\n" in exact
    model = Model(FEATURES, MODELS["classes"].trees, (0, 0, 0), 8, "argmax", error=(1e-3, 0, 0), margin=1.234e-3)
    near = rendered(model)["rlcc_model.h"]
    assert "within 1.0e-3" in near or "within 1.1e-3" in near
    assert "by more than 1.3e-3" in near
    assert [at_most(v) for v in (0.0, 0.00101, 0.99)] == ["0", "1.1e-3", "9.9e-1"]


STEP = Model(
    (RTT, RATE), (Branch(0, 51, Leaf((3, 0)), Branch(1, 1 << 19, Leaf((-4, 1)), Leaf((0, 2)))),), (1, 0), 4, "argmax"
)


def test_the_c_reads_like_this():
    """The whole file, for a reader to judge."""
    c = rendered(STEP, FORMS["branches"])["rlcc_model.c"]
    expected = """
#include "rlcc_model.h"

int32_t rlcc_predict(const rlcc_features *x, int32_t *out)
{
    int32_t sum_0 = 1; /* bias */
    int32_t sum_1 = 0; /* bias */
    if (x->rtt_q10 <= 51) { /* not rtt > 0.0498046875 */
        if (x->rate_q20 > 524288) { /* rate > 0.5 */
            sum_0 += (-4);
            sum_1 += 1;
        } else {
            sum_1 += 2;
        }
    } else {
        sum_0 += 3;
    }

    out[0] = sum_0;
    out[1] = sum_1;

    int32_t greatest = sum_0;
    int32_t decided = 0;
    if (sum_1 > greatest) {
        decided = 1;
    }
    return decided;
}
"""
    assert c.split("*/", 1)[1] == expected


@pytest.mark.parametrize("case", ["binary", "classes"])
def test_the_c_on_the_core_is_the_model(case, tmp_path):
    """On the Verilated core, through a function of one row of integers, which the struct is."""
    from emulator import time_function

    model = MODELS[case]
    emit_model(model, tmp_path / "firmware", name="model")
    wrapper = tmp_path / "firmware/row.c"
    wrapper.write_text(
        '#include "rlcc_model.c"\nint32_t row(const int32_t *x);\nint32_t row(const int32_t *x)\n{\n'
        "    int32_t out[RLCC_OUTPUTS];\n    const int32_t returned = rlcc_predict((const rlcc_features *)x, out);\n"
        "    return (out[RLCC_OUTPUTS - 1] << 2) + returned;\n}\n"
    )
    rows = make(model, seed=1, random_rows=64).rows
    timing = time_function(wrapper, "row", rows, profile="ibex-small")
    expected = (model.evaluate(rows)[:, -1] << 2) + returned(model, rows)
    np.testing.assert_array_equal(timing.returned, expected)
    assert timing.code.forbidden == ()


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
    again = (folder / "again/rlcc_model.c").read_text()
    assert again.replace("model.json,", "model.cbm,", 1) == (folder / "out/rlcc_model.c").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["model.cbm"], "needs a grid: a TOML file with low and high of '0', '1'"),
        (["model.cbm", "--grid", "none.toml"], "there is no file"),
        (["model.cbm", "--grid", "grid.toml", "--target", "generic"], "for students"),
        ([".", "--grid", "grid.toml"], "--grid is for model files"),
        (["none.cbm"], "there is no"),
    ],
)
def test_the_command_says_what_is_wrong(catboost_model, capsys, arguments, sentence):
    paths = [str(catboost_model / a) if "." in a else a for a in arguments]
    assert main(["emit", *paths, "--out", str(catboost_model / "out")]) == 2
    assert sentence in capsys.readouterr().err
    assert not (catboost_model / "out").exists()


def test_a_grid_may_hold_features_that_no_tree_asks_for():
    header = rendered(Model(FEATURES, (), (0,), 0, "regression"))["rlcc_model.h"]
    assert header.count("(no tree asks for it)") == 3


def test_the_compilers_options_are_kept_and_its_passes_dumped(catboost_model):
    folder = catboost_model
    arguments = ["emit", str(folder / "model.cbm"), "--grid", str(folder / "grid.toml"), "--out", str(folder / "out")]
    assert main([*arguments, "--form", "branches", "--dump-passes", str(folder / "passes")]) == 0
    details = opened(folder / "out", KIND).details
    assert (details["compiled"]["form"], details["form"]["form"]) == ("branches", "branches")
    assert (folder / "passes/00-trees.txt").read_text().startswith("sum 0: bias ")
    assert "0 B of constant tables" in (folder / "out/rlcc_model.h").read_text()
    assert main([*arguments, "--max-cycles", "1"]) == 2

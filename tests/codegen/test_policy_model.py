"""`rlcc emit MODEL --policy`: a library's model becomes a policy's firmware, held against the library; bad inputs.

Slow: further libraries' files; `tests/codegen/frontends` reads each in the fast suite.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from codegen.differences import differences
from codegen.emit import KIND, Emission
from codegen.frontends.comparison import report_of
from codegen.policy_model import emit_policy_model, estimator_policy
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.policy.deciders import load_pupil
from rlcc.cli import main

POLICY = """format = 1
name = "queue-forest"
[model]
output = "change"
[observation]
window = 1
base_rtt = "8192 ns"
line_rate = "100 Gb/s"
rtt_max = "4 ms"
[[observation.features]]
kind = "rtt_inflation"
[[observation.features]]
kind = "rate"
[action]
kind = "multiplier"
low = 0.5
high = 1.3
[limits]
rate_min = "1 ppm"
rate_max = "100 %"
rate_initial = "100 %"
"""


def rows_and_targets():
    rng = np.random.default_rng(0)
    rows = np.stack([1 + 3 * rng.random(600), rng.random(600)], axis=1)
    return rows, np.clip(0.2 * (1.3 - rows[:, 0]) - 0.1 * rows[:, 1], -0.5, 0.3)


def catboost(path: Path) -> None:
    from catboost import CatBoostRegressor

    model = CatBoostRegressor(iterations=5, depth=3, allow_writing_files=False, verbose=False, thread_count=1)
    model.fit(*rows_and_targets()).save_model(str(path), format="json")


def xgboost(path: Path) -> None:
    import xgboost

    rows, targets = rows_and_targets()
    booster = xgboost.train({"max_depth": 3, "nthread": 1}, xgboost.DMatrix(rows, targets, nthread=1), 5)
    booster.save_model(str(path))


def lightgbm(path: Path) -> None:
    import lightgbm

    told = {"num_leaves": 6, "verbose": -1, "num_threads": 1}
    lightgbm.train(told, lightgbm.Dataset(*rows_and_targets()), 5).save_model(str(path))


def forest():
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(8, max_depth=3, random_state=0).fit(*rows_and_targets())


def treelite(path: Path) -> None:
    import treelite

    treelite.sklearn.import_model(forest()).serialize(str(path))


LIBRARIES = {
    "model.json": catboost,
    "booster.json": xgboost,
    "model.txt": lightgbm,
    "model.tl": treelite,
}


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """A folder with a model of every library, and the policy."""
    folder = tmp_path_factory.mktemp("models")
    for name, make in LIBRARIES.items():
        make(folder / name)
    (folder / "policy.toml").write_text(POLICY)
    return folder


def emit(*words: object) -> int:
    return main(["emit", *map(str, words)])


@pytest.mark.slow_except("model.tl")
@pytest.mark.parametrize("name", LIBRARIES)
def test_every_librarys_file_becomes_a_policy(name, models, tmp_path, run):
    out = tmp_path / "firmware"
    assert emit(models / name, "--policy", models / "policy.toml", "--target", "doca-pcc", "--out", out) == 0
    assert differences(out) == []
    student = load_pupil(out)
    assert (student.teacher, student.name) == ("", "queue-forest")
    assert opened(out, KIND).parents.keys() == {"model", "policy"}
    assert student.model == opened(out, KIND).parents["model"]
    compared = json.loads(report_of(out).read_text())
    assert compared["state"] == "compared"
    assert compared["rows"] > 1000
    assert compared["largest_difference"][0] <= compared["stated_error"][0] < 1e-3
    assert run("make", "-s", "-f", out / "rlcc_policy.mk", "check").stdout.startswith("0 of")
    assert (out / "rlcc_doca_pcc.c").exists()


def test_its_names_begin_with_the_prefix(models, tmp_path):
    out = tmp_path / "firmware"
    words = ("--policy", models / "policy.toml", "--target", "generic", "--prefix", "nic_a", "--out", out)
    assert emit(models / "booster.json", *words) == 0
    assert differences(out) == []
    assert (out / "nic_a_policy.c").exists()
    assert not (out / "rlcc_policy.c").exists()


@pytest.mark.slow
def test_an_estimator_in_memory_becomes_the_same_policy(models, tmp_path):
    made = estimator_policy(forest(), models / "policy.toml")
    details = emit_policy_model(made, tmp_path / "firmware", Emission("generic"))
    assert details["trees"] == 8
    emit(models / "model.tl", "--policy", models / "policy.toml", "--out", tmp_path / "other")
    assert made.student.forest.trees == load_pupil(tmp_path / "other").forest.trees


def test_an_edited_model_student_is_found(models, tmp_path):
    out = tmp_path / "firmware"
    emit(models / "booster.json", "--policy", models / "policy.toml", "--out", out)
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["parents"]["model"] = "1" * 64
    (out / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError):
        opened(out, KIND)


def changed(folder: Path, old: str, new: str) -> Path:
    text = POLICY.replace(old, new)
    assert text != POLICY
    path = folder / "changed.toml"
    path.write_text(text)
    return path


FEATURE = '[[observation.features]]\nkind = "rate"\n'
CHANGES = {
    "no output": ('[model]\noutput = "change"\n', "", "model: is missing"),
    "unknown output": ('"change"', '"delta"', "model.output"),
    "unknown key of model": ('output = "change"', 'output = "change"\nscale = 2', "model.scale"),
    "an architecture": ("[model]", '[architecture]\nkind = "mlp"\n[model]', "is of a network"),
    "a trigger": ("[limits]", "[trigger]\nhidden = [4]\n[limits]", "trigger"),
    "too few columns": (FEATURE, "", "2 columns"),
    "too many columns": (FEATURE, FEATURE + '[[observation.features]]\nkind = "nack_ratio"\n', "2 columns"),
    "two decisions": ("window = 1", "window = 2", "input.order"),
    "no such feature": ('kind = "rate"', 'kind = "rtt_gradient"', "features.1.kind"),
    "no such signal": ('kind = "rate"', 'kind = "level"\nsignal = "acks"', "are not told acks"),
    "an action of trees": ('output = "change"', 'output = "action"\n', None),
    "rows of a multiplier": ('"change"', '"row"', "multiplier takes"),
    "a map of outputs": ('kind = "multiplier"\nlow = 0.5\nhigh = 1.3', 'kind = "choice"\nrows = []', "action"),
    "no limits": (POLICY[POLICY.index("[limits]") :], "", "limits are needed"),
    "a column twice": ("[observation]", '[input]\ncolumns = ["rate", "rate"]\n[observation]', "stands twice"),
    "columns cut": ("[observation]", "[input]\nclip = 1.0\n[observation]", "input.clip"),
    "statistics": ("[observation]", '[input]\nvec_normalize = "nowhere.pkl"\n[observation]', "vec_normalize"),
    "a scale of 0": ("[observation]", "[input]\nscale = 0\n[observation]", "scale is 0"),
    "format": ("format = 1", "format = 2", "format"),
    "name": ('"queue-forest"', '"Queue Forest"', "name"),
}
"""What is changed in the policy, and what the sentence names; None: it is fine."""


@pytest.mark.parametrize("case", CHANGES)
def test_a_policy_that_does_not_fit_is_refused_in_a_sentence(case, models, tmp_path, capsys):
    old, new, named = CHANGES[case]
    out = tmp_path / "firmware"
    code = emit(models / "booster.json", "--policy", changed(tmp_path, old, new), "--out", out)
    said = capsys.readouterr().err
    if named is None:
        assert code == 0
        return
    assert code == 2
    assert named in " ".join(said.split())
    assert "Traceback" not in said
    assert not out.exists()
    assert not report_of(out).exists()


COMMANDS = {
    "both": ([("booster.json"), "--policy", "policy.toml", "--grid", "policy.toml"], "--grid and --policy"),
    "a student": ([".", "--policy", "policy.toml"], "--policy is for"),
    "a target alone": (["booster.json", "--target", "doca-pcc"], "give --policy too"),
    "a network": (["booster.json", "--policy", "policy.toml", "--form", "mlp-int8"], "--policy is of trees"),
    "no model": (["policy.toml", "--policy", "policy.toml"], "is no model"),
    "no policy": (["booster.json", "--policy", "nowhere.toml"], "nowhere.toml"),
    "a model for a policy": (["booster.json", "--policy", "booster.json"], "not valid TOML"),
    "no constant": (["booster.json", "--policy", "policy.toml", "--constants", "gain"], "no parameter 'gain'"),
    "no target": (["booster.json", "--policy", "policy.toml", "--target", "dpa"], "dpa"),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_a_command_that_does_not_fit_is_refused_in_a_sentence(case, models, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(models)
    words, named = COMMANDS[case]
    assert emit(*words, "--out", tmp_path / "firmware") == 2
    said = capsys.readouterr().err
    assert named in " ".join(said.split())
    assert not (tmp_path / "firmware").exists()

"""`rlcc emit MODEL` holds the integers against the model's own library; the report stands next to the folder.

Slow: the report beside the folder, and libraries that stay out of the process.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xgboost
from catboost import CatBoostRegressor

from codegen.frontends import comparison, formats, xgboost_json
from decision.artefact.documents import load_json
from decision.artefact.errors import InputError
from rlcc.commands.console import repeated
from rlcc.commands.emit import command


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A folder with an XGBoost model and its grid, and the arguments that emit it."""
    monkeypatch.setattr(comparison, "CPU_S", 60)  # however busy the machine is
    x = np.random.default_rng(0).integers(0, 64, (300, 2)).astype(float)
    matrix = xgboost.DMatrix(x, x[:, 0] * x[:, 1], nthread=1)
    xgboost.train({"max_depth": 3, "nthread": 1}, matrix, 3).save_model(tmp_path / "model.json")
    (tmp_path / "grid.toml").write_text(
        "".join(f"[features.f{n}]\nlow = 0\nhigh = 63\nfraction_bits = 0\n" for n in "01")
    )
    return [str(tmp_path / "model.json"), "--grid", str(tmp_path / "grid.toml")]


def emit(model, out):
    command.main([*model, "--out", str(out)], standalone_mode=False)
    return load_json(out.with_name(f"{out.name}.compared.json")), load_json(out / "manifest.json")


@pytest.mark.slow
def test_the_report_stands_next_to_the_folder_and_changes_nothing_in_it(model, tmp_path, monkeypatch, capsys):
    found, manifest = emit(model, tmp_path / "firmware")
    assert (found["state"], found["library"]) == ("compared", "xgboost")
    assert found["rows"] > 200
    assert 0 < found["largest_difference"][0] <= found["stated_error"][0]
    assert (found["firmware"], found["model"]) == (manifest["hash"], manifest["parents"]["model"])
    printed = capsys.readouterr().out
    assert "compared with xgboost" in " ".join(printed.split())
    assert formats.NOTES["xgboost"] in " ".join(printed.split())
    child = tmp_path / "predictions.py"  # where the library is not installed
    child.write_text(Path(comparison.CHILD).read_text().replace("OPTIONAL = (", 'OPTIONAL = ("xgboost", '))
    monkeypatch.setattr(comparison, "CHILD", child)
    without, other = emit(model, tmp_path / "without")
    assert without["state"].startswith("library not installed")
    assert "largest_difference" not in without
    assert other == manifest
    names = {path.name for path in (tmp_path / "firmware").rglob("*")}
    assert not any("compared" in name for name in names)
    for name in names:
        assert (tmp_path / "firmware" / name).read_bytes() == (tmp_path / "without" / name).read_bytes()


def test_a_difference_is_an_error_and_leaves_what_was_there(model, tmp_path, monkeypatch):
    before, _ = emit(model, tmp_path / "firmware")
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    right = xgboost_json._bias
    monkeypatch.setattr(xgboost_json, "_bias", lambda *a: (tuple(b + 1 for b in right(*a)[0]), right(*a)[1]))
    for out in ("firmware", "new"):
        with pytest.raises(InputError, match=r"xgboost \S+ predicts \S+ of f0 = .*and the model as read"):
            command.main([*model, "--out", str(tmp_path / out)], standalone_mode=False)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == kept
    assert before["state"] == "compared"


@pytest.mark.slow
def test_the_libraries_stay_out_of_the_process(tmp_path):
    """Also where CatBoost reads the file."""
    x = np.arange(60.0)[:, None]
    fitted = CatBoostRegressor(iterations=2, depth=2, verbose=0, allow_writing_files=False, thread_count=1).fit(x, x)
    fitted.save_model(str(tmp_path / "model.cbm"))
    (tmp_path / "grid.toml").write_text("[features.0]\nlow = 0\nhigh = 63\nfraction_bits = 0\n")
    model = [str(tmp_path / "model.cbm"), "--grid", str(tmp_path / "grid.toml")]
    arguments = json.dumps([*model, "--out", str(tmp_path / "firmware")])
    libraries = ("torch", "catboost", "xgboost", "lightgbm", "sklearn", "treelite", "pandas")
    script = f"""
import sys
from rlcc.cli import main
try:
    main(["emit", *{arguments}])
except SystemExit as ended:
    assert not ended.code, ended.code
print([m for m in {libraries} if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("[]")
    assert load_json(tmp_path / "firmware.compared.json")["library"] == "catboost"


def test_what_takes_long_says_so_again():
    texts = []
    with repeated(texts.append) as say:
        say("1,000 trees")
        time.sleep(2.3)
    assert texts == ["1,000 trees"] * 2

"""The random forest of docs/dpa-forest: what rounded thresholds make of it, and what becomes of it here.

Slow: the proof of a smaller forest; the fast suite fits the large one into its context.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from options_by_hand import ENGINE, cuts, judge

from codegen.differences import differences
from codegen.emit import Emission
from codegen.frontends.treelite_model import is_treelite
from codegen.policy_model import emit_policy_model, estimator_policy
from emulator.firmware_folder import built
from verify.prover.certify import _prove
from verify.trusted.costs import cycle_model

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "dpa-forest"
sys.path.insert(0, str(FOLDER))
import train_forest  # noqa: E402


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The rows, the estimator that train_forest.py fits to them, and the folder that it writes."""
    from sklearn.ensemble import RandomForestRegressor

    folder = tmp_path_factory.mktemp("dpa")
    train_forest.main(folder)
    rows, change = train_forest.made_up(seed=1)
    forest = RandomForestRegressor(n_estimators=8, max_depth=3, max_features=2, random_state=1).fit(rows, change)
    return rows, forest, folder


def test_rounded_thresholds_are_wrong_and_ours_are_not(trained):
    rows, forest, folder = trained
    own, rounded = forest.predict(rows), train_forest.rounded_export(forest, rows)
    assert (np.abs(own - rounded) > 2**-15).sum() > 19_000
    assert (np.sign(own) != np.sign(rounded)).sum() > 10_000
    made = estimator_policy(forest, FOLDER / "policy.toml")
    ours = made.student.forest.evaluate(rows)[:, 0] / 2**16
    assert np.abs(own - ours).max() <= made.student.report["model"]["error"][0] < 2**-13
    assert is_treelite((folder / "forest.tl").read_bytes())


def test_it_fits_the_dpas_context(trained, tmp_path):
    _, forest, _ = trained
    made = estimator_policy(forest, FOLDER / "policy.toml")
    details = emit_policy_model(made, tmp_path / "firmware", Emission("doca-pcc"))
    assert differences(tmp_path / "firmware") == []
    assert details["context_bytes"] <= 16
    assert (tmp_path / "firmware" / "rlcc_doca_pcc.c").exists()
    fields = [field.name for field in made.student.program().state]
    assert fields == ["rate_q30", "rtt_ns_least_kept", "rtt_ns_average_4_kept", "cnp_count_streak_of_255_kept"]


@pytest.mark.slow
def test_a_smaller_one_of_all_six_columns_is_proved_and_its_certificate_holds(tmp_path):
    from sklearn.ensemble import RandomForestRegressor

    rows, change = train_forest.made_up(seed=1)
    forest = RandomForestRegressor(n_estimators=4, max_depth=2, max_features=1, random_state=1).fit(rows, change)
    made = estimator_policy(forest, FOLDER / "policy.toml")
    asked = set().union(*made.student.program().forest.asked)
    assert asked == set(range(6))
    emit_policy_model(made, tmp_path / "firmware", Emission("generic"))
    build = built(tmp_path / "firmware", profile=ENGINE)
    proof, forms = _prove(build, cycle_model(ENGINE))
    assert proof.proved, proof.failures
    checked = judge(build.firmware, build.image, cuts(next(iter(forms))))
    assert checked.bound() >= proof.worst.bound
    assert next(checked.dearer_chains(proof.worst.bound), None) is None

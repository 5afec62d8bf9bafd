"""Both transports: what each scene runs, the flagship with a cut, and the page."""

from pathlib import Path

import pytest

from bench import transports
from bench.shipped import with_cut
from decision.artefact.errors import InputError
from decision.devices import TRANSPORTS
from netsim.network import MS
from netsim.policies import NativePolicy
from rlcc.evaluation.contenders import opened

TEACHERS = transports.ROOT / "fixtures" / "teachers"


def test_a_cut_is_added_to_the_start_and_nothing_else_changes() -> None:
    texts = [f"flagship={TEACHERS / 'robust-in-flight'}", f"plain={TEACHERS / 'rl-cc-mlp'}"]
    with opened(texts, decision_latency_ps=900_000, profile="ibex-small") as (flagship, plain):
        cut = with_cut(flagship)
        before, after = flagship.policy, cut.policy
        assert isinstance(before, NativePolicy)
        assert isinstance(after, NativePolicy)
        assert before.policy.start is not None
        assert after.policy.start is not None
        assert before.policy.start.loss is None
        assert after.policy.start.loss is not None
        assert after.policy.start.model_copy(update={"loss": None}) == before.policy.start
        assert after.policy.model_copy(update={"start": before.policy.start}) == before.policy
        assert after.weights is before.weights
        assert cut.label != flagship.label
        with pytest.raises(InputError):
            with_cut(plain)


def test_the_page_has_a_pair_a_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transports, "KEPT", tmp_path / "runs")
    scene = transports.TransportScene("A policer", "many-to-one:3", (MS, 3 * MS), transports.LOAD, 50)
    monkeypatch.setattr(transports, "SCENES", (scene,))
    page = tmp_path / "page.md"
    assert transports.main(["swift", "dcqcn", "--out", str(page)]) == 0
    row = next(line for line in page.read_text().splitlines() if line.startswith("| dcqcn"))
    values = [[float(value) for value in cell.split(" / ")] for cell in row.strip("| ").split("|")[1:]]
    assert all(len(each) == len(TRANSPORTS) for each in values)
    assert values[0][0] < values[0][1] < 1


def test_a_policy_that_there_is_not_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    assert transports.main(["nothing-of-that-name", "--out", str(page)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not page.exists()

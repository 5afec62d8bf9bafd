"""The page of bursts and shared contexts, in short runs."""

from pathlib import Path

import pytest

from bench import context_bursts
from bench.context_bursts import BURSTS, FLOWS, page, policies
from netsim.network import MS


def test_the_two_policies_differ_in_weights_and_action_alone() -> None:
    one, other = policies().values()
    assert one.policy.once_per_rtt
    assert one.policy.model_copy(update={"action": other.policy.action}) == other.policy
    assert one.policy.action != other.policy.action
    assert any((one.weights[name] != other.weights[name]).any() for name in one.weights)


def test_a_cell_is_bold_within_the_aim() -> None:
    tails = {
        ("p", "many-to-one:1x16", burst, flows): 10.0 if flows == 1 else 7.4 + 4 * burst
        for burst in BURSTS
        for flows in FLOWS
    }
    row = next(line for line in page(tails, [1]).splitlines() if line.startswith("| p "))
    assert [cell.strip() for cell in row.split("|")[3:6]] == [
        "**10.0 / 11.4 = 1.14**",
        "10.0 / 15.4 = 1.54",
        "10.0 / 23.4 = 2.34",
    ]


def test_a_run_gives_a_row_a_policy_and_scenario(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(context_bursts, "SCENARIOS", ("many-to-one:2x16",))
    monkeypatch.setattr(context_bursts, "WINDOW_PS", (MS, 2 * MS))
    assert context_bursts.main(["--seeds", "1", "--jobs", "1", "--out", str(tmp_path / "page.md")]) == 0
    rows = [line for line in (tmp_path / "page.md").read_text().splitlines() if "2x16 |" in line]
    assert len(rows) == 2
    assert all(line.count(" = ") == len(BURSTS) for line in rows)

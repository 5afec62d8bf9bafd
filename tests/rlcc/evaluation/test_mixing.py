"""Policies that share a network, as they are written.

Slow: a mix with its parts from end to end.
"""

import json
from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from netsim.mixes import Mix
from rlcc import cli
from rlcc.evaluation import contenders
from rlcc.evaluation.mixing import MixArgument, Share, parse_mix

TEACHER = "fixtures/teachers/rl-cc-mlp"


@pytest.mark.parametrize(
    ("text", "mix"),
    [
        ("swift@25%+dctcp@75%", MixArgument(None, (Share("swift", 25, None), Share("dctcp", 75, None)))),
        (
            "both=some/where@target:2@17us@5%@class:1+dcqcn@95%",
            MixArgument("both", (Share("some/where@target:2@17us", 5, 1), Share("dcqcn", 95, None))),
        ),
        ("a+b/c@50%+swift@50%", MixArgument(None, (Share("a+b/c", 50, None), Share("swift", 50, None)))),
        ("swift", None),
        ("a+b=some/where@17us", None),
    ],
)
def test_a_mix_is_read(text, mix):
    assert parse_mix(text) == mix


@pytest.mark.parametrize("text", ["swift@50%+", "swift@50%@class:x+dctcp@50%", "swift@50%+dctcp", "@50%+dctcp@50%"])
def test_what_is_no_mix_is_said(text):
    with pytest.raises(InputError, match="mix of policies"):
        parse_mix(text)


def test_a_path_is_taken_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a@50%+b@50%").touch()
    assert parse_mix("a@50%+b@50%") is None


def test_parts_take_what_is_written_behind_them():
    with contenders.opened(
        [f"{TEACHER}@17us@25%+swift@75%@class:1"], decision_latency_ps=None, profile="ibex-small"
    ) as [mixed]:
        assert isinstance(mixed.policy, Mix)
        assert mixed.kind == "mix"
        assert [(p.percent, p.klass, p.latency_ps) for p in mixed.policy.parts] == [(25, None, 17_000_000), (75, 1, 0)]
        assert contenders.latency_text(mixed) == "17 us + -"
        assert mixed.label.split(" + ") == ["rl-cc-mlp teacher 17 us 25", "swift 75"]


@pytest.mark.slow
def test_a_mix_stands_beside_its_parts(tmp_path, capsys):
    out = tmp_path / "out.json"
    given = ["evaluate", "both=swift@50%+dctcp@50%", "swift", "--scenario", "many-to-one:8", "--duration", "4 ms"]
    assert cli.main([*given, "--out", str(tmp_path / "run"), "--json", str(out)]) == 0
    assert "a of fair" in capsys.readouterr().out
    mixed, alone = (told["metrics"][0] for told in json.loads(out.read_text()))
    assert mixed["a_goodput"] + mixed["b_goodput"] == pytest.approx(mixed["goodput"])
    assert "a_goodput" not in alone

"""PCC-RL's targets with its own reward: a training a seed, the paper's figure behind each of ours, a whole page."""

from pathlib import Path

import pytest

from papers import own_reward, published
from papers.found import Found
from papers.own_reward import ALL_TO_ALL, LARGEST, NETWORK, RATIO, TRAFFIC, TREES, Made, fits, label, page, words
from papers.pcc_rl import FULL_BUFFER
from papers.sections import QUEUE, UTILISATION
from papers.trained import OwnReward
from teachers.curriculum import TrainConfig

MADE: dict[str, list[Made]] = {name: [] for name in published.TARGETS}
METRICS = {
    **dict.fromkeys(("utilisation", "fairness_min_max", "goodput", "rtt_inflation_mean"), 0.9),
    **dict.fromkeys(("loss", "drop_gbps", "dropped_packets"), 0.0),
    "queue_mean_us": 10.0,
    "recovery_us": 1500.0,
    "recoveries": 3.0,
}


def found(queues: dict[str, float]) -> Found:
    kinds = (NETWORK, TREES, RATIO)
    return Found(
        {
            (label(kind, name), t.name, seed): METRICS | {"queue_mean_us": queues.get(name, 10.0)}
            for kind in kinds
            for name in MADE
            for t in TRAFFIC
            for seed in (1, 2)
        },
        (1, 2),
    )


def test_trainings_of_a_target_differ_in_target_scale_and_seed_alone() -> None:
    standard, loose = (OwnReward(target, seed).recipe() for target, seed in ((2.0, 1), (20.0, 3)))
    (one,), (other,) = ([f for f in d["policy"]["observation"]["features"] if "target" in f] for d in (standard, loose))
    assert other == one | {"target": 20.0, "scale": one["scale"] / 10}
    assert loose["training"] == standard["training"] | {"seed": 3}
    assert loose["validation"] == standard["validation"]
    config = TrainConfig.model_validate(standard)
    assert config.training.scenarios == [f"many-to-one:{n}" for n in (2, 4, 8)]


def test_a_fixed_point_fits_the_buffer_up_to_so_many_flows() -> None:
    for target in published.TARGETS.values():
        assert target * fits(target) ** 0.5 <= FULL_BUFFER < target * (fits(target) + 1) ** 0.5


def test_words_count_the_pairs_of_targets_that_go_the_papers_way() -> None:
    columns = (UTILISATION, QUEUE)
    printed = {name: (row[0], row[2]) for name, row in published.TABLE_3.items()}
    alike = words(found({"strict": 1.0, "standard": 2.0, "loose": 3.0}), MADE, LARGEST, columns, printed)
    assert f"{NETWORK} 3 of 3" in alike
    turned = words(found({"strict": 3.0, "standard": 2.0, "loose": 4.0}), MADE, LARGEST, columns, printed)
    assert f"{TREES} 2 of 3" in turned


def test_the_page_is_whole() -> None:
    text = page(found({}), MADE)
    assert "10.0 / 42" in text
    assert "1.50 (3 of 12) / 5" in text
    assert "Not trained yet" not in text
    assert all(f"| {t.name} " in text for t in (LARGEST, *ALL_TO_ALL))
    fewer = page(found({}), {"strict": []})
    assert "Not trained yet, and so not here: standard (2) and loose (20)." in fewer.replace("\n", " ")


def test_nothing_trained_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert own_reward.main(["--work", str(tmp_path), "--out", str(tmp_path / "page.md")]) == 2
    assert "give --train" in capsys.readouterr().err

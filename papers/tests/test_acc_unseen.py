"""The page of traffic that ACC never met says what the runs said."""

from decision.artefact.documents import load_toml
from papers import acc_unseen
from papers.acc_change import FLOWS, PHASES, SLICES, Changed, Slices
from papers.acc_unseen import AGAIN, BOTH, LEARNT, NETWORK, NEW, ONLINE_ON, TRAFFIC, TREE, Unseen, Watched
from papers.contenders import TEACHERS
from rlcc.drift import Drift
from rlcc.recipe import load_recipe
from teachers.ddqn_options import DdqnConfig


def course(fct: float) -> Slices:
    return [{f"{flows}{m}": v for flows in FLOWS for m, v in (("completions", 5.0), ("fct_mean_us", fct))}] * (
        SLICES * len(PHASES)
    )


def test_a_tree_is_due_where_drift_says_so() -> None:
    fct = {"SECN1": 200.0, BOTH: 90.0, NETWORK: 100.0, TREE: 110.0, ONLINE_ON: 95.0, AGAIN: 100.0, LEARNT: 99.0}
    changed = Changed({name: [course(each)] * 3 for name, each in fct.items()})
    beyond = {TRAFFIC[0]: 0.01, NEW: 0.2}
    watched = {
        (name, traffic): Watched(Drift(5000, 0.5, beyond[traffic] / (1 + 9 * (name == AGAIN)), 0.1, ()), 0.04)
        for name in (TREE, AGAIN)
        for traffic in TRAFFIC
    }
    text = acc_unseen.page(Unseen(changed, watched, (0, 8)), (1, 2, 3))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    assert [TREE, *["110"] * len(PHASES)] in rows
    assert [TREE, *["10.0"] * len(FLOWS)] in rows
    assert [f"{TREE}, {NEW}", "50.0", "20.00", "10.00", "due", "4.0"] in rows
    assert [f"{AGAIN}, {NEW}", "50.0", "2.00", "10.00", "not due", "4.0"] in rows
    words = " ".join(text.split())
    assert f"The tree is due in {NEW}: 20.0 % of its decisions are beyond" in words
    assert "against itself: -9.1 % for all, -9.1 % for mice" in words
    assert "the weights from before the first" in words


def test_the_teacher_does_not_meet_what_is_new() -> None:
    config, whole = DdqnConfig.model_validate(acc_unseen.recipe()), load_toml(DdqnConfig, acc_unseen.TRAINING)
    met = [*config.ddqn.scenarios, *config.ddqn.validation_scenarios, *acc_unseen.made_in(False).scenarios]
    assert met
    assert not any(NEW in name for name in met)
    assert len(config.ddqn.scenarios) == len(whole.ddqn.scenarios) - 1
    assert config.ddqn.model_copy(update={"scenarios": whole.ddqn.scenarios}) == whole.ddqn
    on = DdqnConfig.model_validate(acc_unseen.recipe_on(TEACHERS / "acc", "0" * 64))
    assert all(NEW in name for name in (*on.ddqn.scenarios, *on.ddqn.validation_scenarios))
    assert on.policy.observation == whole.policy.observation
    assert acc_unseen.made_in(True) == load_recipe(acc_unseen.RECIPE).rollout

"""The page of policies together: what it asks for is there, and its sentences follow from the runs."""

from netsim.mixes import Mix
from netsim.policies import native
from netsim.topology import by_name
from papers import together
from papers.contenders import TEACHERS, Contender
from papers.found import Found
from papers.sections import wanted
from teachers.load import load


def metrics(label: str) -> dict[str, float]:
    starved = 0.2 if label.startswith("RL-CC tree 5 %, DCQCN, one queue") else 1.0
    both = {f"{part}_{name}": 1.0 for part in "ab" for name in ("fair", "latency_p99_us")}
    alone = {"goodput": 0.9, "latency_p99_us": 9.0, "loss": 0.0, "fairness_min_max": 0.5, "nacks": 3.0}
    if "go back N" in label:
        alone["goodput"] = 0.45
    return alone | both | {"a_fair": starved}


def contenders() -> dict[str, Contender]:
    teacher = load(TEACHERS / "rl-cc-mlp")
    return together.who(native(teacher.policy, teacher.weights))


def test_every_run_that_a_section_writes_of_is_asked_for() -> None:
    who, made = contenders(), together.sections()
    runs = wanted(made, who, [1, 2, 3])
    found = {(run.contender.label, run.traffic.name, run.seed): metrics(run.contender.label) for run in runs}
    page = together.page(Found(found, [1, 2, 3]), made)
    assert "RL-CC tree by DCQCN (down to 0.20)" in page
    assert "Going back N costs up to 50% of the goodput." in page
    assert page.count("## ") == 4


def test_mixes_have_the_classes_of_their_cure() -> None:
    who = contenders()
    cured = who[together.mixed(together.TREE, together.SWIFT, 25, "a class each, 1 : 3")]
    assert isinstance(cured.policy, Mix)
    assert [(part.percent, part.klass) for part in cured.policy.parts] == [(25, 0), (75, 1)]
    assert cured.network.class_weights == (1, 3)


def test_the_link_that_fails_is_there() -> None:
    assert by_name(together.FABRIC.partition("@")[2]).link_ports(together.LINK)

"""What `rlcc gate` says of failures that a recipe would have decided."""

from rlcc.gate.names import named
from rlcc.gate.verdict import Check, Verdict
from rlcc.handlers.gate import without_recipe


def verdict(*checks: Check) -> Verdict:
    return Verdict(policy="p", firmware="f", student="", teacher="", profile="e", checks=list(checks), measured={})


def test_only_failures_whose_limits_a_recipe_has_ask_for_one() -> None:
    failed = named("teacher.maximum", decisions="1", rollouts="r")(value="1", limit="0", passed=False)
    passed = failed.model_copy(update={"passed": True})
    own = named("size.code")(value="1", limit="0", passed=False)
    assert without_recipe(verdict(passed, own)) == ""
    said = without_recipe(verdict(failed, own))
    assert failed.id in said
    assert "--recipe" in said
    assert own.id not in said

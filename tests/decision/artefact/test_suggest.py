"""The name that was meant."""

from wording import Wording

from decision.artefact.suggest import choices, meant, meant_word

KNOBS = ("trees", "depth", "rounds")


def test_a_near_name_is_suggested_behind_all_there_are(wording: Wording) -> None:
    wording(choices("tree", KNOBS))
    assert "trees?" in meant("tree", KNOBS)
    assert choices("window", KNOBS) == "trees, depth, rounds"
    assert meant(None, KNOBS) == ""


def test_the_word_before_the_colon_is_another_and_the_rest_stays() -> None:
    known = ("many-to-one", "all-to-all")
    assert meant_word("many-to-on:64@star:65", known) == " (did you mean many-to-one:64@star:65?)"
    assert meant_word("many-to-one:x", known) == ""
    assert meant_word(7, known) == ""

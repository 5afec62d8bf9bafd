"""Device files: each value with how it is known, and one sentence for each thing that is wrong."""

import pytest

from codegen.targets import TARGETS
from decision.artefact.errors import InputError
from decision.devices import FOLDER, Fact, load_device, names

DOCA, CARD = "doca-pcc", "bluefield3"
TARGET_OF = {CARD: DOCA, "bluefield3-source-qp": DOCA, "connectx6dx": "connectx6dx", "linux": "linux-bpf"}
TARGET_OF |= {"falcon": "falcon-rue"}


@pytest.mark.parametrize("name", names())
def test_every_value_says_how_it_is_known(name):
    facts = dict(load_device(name).facts())
    assert len(facts) == 15
    assert all(isinstance(fact, Fact) and fact.source for fact in facts.values())


@pytest.mark.parametrize("name", TARGET_OF)
def test_contexts_are_as_large_as_the_adapter_is_compiled_for(name):
    assert load_device(name).contexts.bytes.value == TARGETS[TARGET_OF[name]].context_bytes


def test_the_two_settings_of_a_card_differ_in_what_is_shared_alone():
    shared, own = (dict(load_device(name).facts()) for name in (CARD, "bluefield3-source-qp"))
    assert [key for key in shared if shared[key] != own[key]] == ["contexts.flows"]


BROKEN = {
    "no evidence": ('evidence = "measured"\n', ""),
    "another class of evidence": ('evidence = "measured"', 'evidence = "guessed"'),
    "no source": ('source = "', 'sauce = "'),
    "an empty source": ("[contexts.flows]\nvalue = 16", '[contexts.flows]\nvalue = 16\nsource = ""'),
    "flows of none": ("value = 16", "value = 0"),
    "a share of all": ("value = 0.0245", "value = 1.0"),
    "a time without a unit": ('"2 us"', "2"),
    "a floor above line rate": ("value = 2\n", "value = 1048577\n"),
    "a number for a truth value": ("value = true", "value = 1"),
    "a share without a delay": ("[events.reorder]\nvalue = 0.0", "[events.reorder]\nvalue = 0.1"),
    "a delay without a share": ('value = "0 ns"\nevidence = "declared"', 'value = "1 us"\nevidence = "declared"'),
    "all events reordered": ("[events.reorder]\nvalue = 0.0", "[events.reorder]\nvalue = 1.0"),
    "a negative share": ("[events.reorder]\nvalue = 0.0", "[events.reorder]\nvalue = -0.1"),
    "an unknown key": ("format = 1", "format = 1\nspeed = 400"),
    "a table left out": ("[rates.offset]", "[rates.offsets]"),
    "no TOML": ("format = 1", "format 1"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_sentence(name, tmp_path):
    old, new = BROKEN[name]
    text = (FOLDER / f"{CARD}.toml").read_text()
    assert old in text
    path = tmp_path / "card.toml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        load_device(str(path))
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["bluefield4", "", "../ideal", "nowhere.toml"])
def test_a_device_that_there_is_not_is_refused(name):
    with pytest.raises(InputError):
        load_device(name)


def test_a_file_of_ones_own_is_read(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text((FOLDER / "ideal.toml").read_text())
    assert load_device(str(path)) == load_device("ideal")


FLOWS = '[contexts.flows]\nvalue = 4\nevidence = "declared"\nsource = "an assumption"\n'


def extending(base: str, rest: str = FLOWS) -> str:
    return f'format = 1\nextends = "{base}"\ntitle = "A card of ours"\n\n{rest}'


def test_a_file_that_extends_a_device_has_its_other_values(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(extending(CARD))
    mine, card = (dict(load_device(name).facts()) for name in (str(path), CARD))
    assert mine.pop("contexts.flows").value == 4
    assert mine == {key: fact for key, fact in card.items() if key != "contexts.flows"}


@pytest.mark.parametrize(
    "text",
    [
        extending("bluefield4"),
        extending("bluefield3-source-qp"),  # extends another itself
        extending(CARD, "[contexts.flows]\nvalue = 4\n"),  # the evidence of 16 is none of 4
        extending(CARD, "transport = 4\n"),
        extending(CARD, "[speeds.most]\nvalue = 4\n"),
    ],
)
def test_what_extends_no_device_or_borrows_evidence_is_refused(text, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_device(str(path))
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)

"""`rlcc doctor --card`: made-up queries of a card's settings, each with one thing wrong."""

import pytest

from decision.artefact.errors import InputError
from rlcc import cli
from rlcc.card import RULES, findings, read_card, settings_of

GOOD = {
    "USER_PROGRAMMABLE_CC": "True(1)",
    "DPA_AUTHENTICATION": "False(0)",
    "LINK_TYPE_P1": "ETH(2)",
    "LINK_TYPE_P2": "ETH(2)",
    "ROCE_CC_PRIO_MASK_P1": "255",
    "ROCE_CC_PRIO_MASK_P2": "0xff",
    "PCC_INT_EN": "False(0)",
    "ROCE_CC_SHAPER_COALESCE_P1": "SOURCE_QP(2)",
    "ROCE_CC_SHAPER_COALESCE_P2": "SOURCE_QP(2)",
    "MEMIC_BAR_SIZE": "0",
}


def query(columns: str = "Next Boot", **changed: str | None) -> str:
    """A query with these settings changed, or left out; a value may be that of several columns."""
    lines = ["", "Device #1:", "----------", "", "Device type:        BlueField3", "Device:             /dev/mst/card"]
    lines += ["", f"Configurations:                                          {columns}"]
    width = len(columns.split("  "))
    for name, value in (GOOD | changed).items():
        if value is not None:
            values = value.split() if " " in value else [value] * len([c for c in columns.split("   ") if c.strip()])
            lines.append(f"{'*' if width > 1 else ' '}       {name:<44}{'   '.join(values)}")
    return "\n".join(lines) + "\n"


ALL = "Default   Current   Next Boot"
WRONG = {
    "USER_PROGRAMMABLE_CC": ("False(0)", "does not run"),
    "DPA_AUTHENTICATION": ("True(1)", "does not run"),
    "LINK_TYPE_P1": ("IB(1)", "does not run"),
    "ROCE_CC_PRIO_MASK_P2": ("0", "does not run"),
    "PCC_INT_EN": ("True(1)", "hears nothing"),
    "ROCE_CC_SHAPER_COALESCE_P1": ("DEVICE_DEFAULT(0)", "shares contexts"),
    "ROCE_CC_SHAPER_COALESCE_P2": ("DEST_IP(1)", "shares contexts"),
}


@pytest.mark.parametrize("columns", ["Next Boot", ALL])
def test_a_card_as_it_should_be_has_no_finding(columns):
    assert list(findings(settings_of(query(columns), "card"))) == []


@pytest.mark.parametrize("columns", ["Next Boot", ALL])
@pytest.mark.parametrize("name", WRONG)
def test_each_wrong_setting_is_named_alone(name, columns):
    value, effect = WRONG[name]
    (found,) = findings(settings_of(query(columns, **{name: value}), "card"))
    assert (found.setting, found.value, found.effect) == (name, value, effect)
    assert "{" not in found.mend
    assert not name.endswith("_P2") or "_P2" in found.mend or "DPA" in found.mend


def test_every_rule_is_tried():
    assert {rule.setting for rule in RULES} == {name.removesuffix("_P1").removesuffix("_P2") for name in WRONG}


def test_a_value_that_waits_for_a_reset_is_not_live():
    (found,) = findings(settings_of(query(ALL, USER_PROGRAMMABLE_CC="False(0) False(0) True(1)"), "card"))
    assert (found.setting, found.effect) == ("USER_PROGRAMMABLE_CC", "not live")


@pytest.mark.parametrize("name", ["USER_PROGRAMMABLE_CC", "DPA_AUTHENTICATION"])
def test_a_setting_that_the_query_does_not_name(name):
    found = list(findings(settings_of(query(**{name: None}), "card")))
    assert [one.setting for one in found] == [name] * (name == "USER_PROGRAMMABLE_CC")


def test_a_value_that_is_no_number_is_not_well():
    (found,) = findings(settings_of(query(PCC_INT_EN="N/A"), "card"))
    assert found.setting == "PCC_INT_EN"


OTHERS = {
    "another tool": "MST modules:\n------------\n    MST PCI module loaded\n",
    "nothing": "",
    "two cards": query() + query(),
    "other columns": query().replace("Next Boot", "Value"),
    "no setting": "Configurations:      Next Boot\n",
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_query_of_one_card_is_one_sentence(name, tmp_path, capsys):
    path = tmp_path / "card.txt"
    path.write_text(OTHERS[name])
    with pytest.raises(InputError):
        read_card(path)
    assert cli.main(["doctor", "--card", str(path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_exit_code_says_whether_one_is_in_the_way(tmp_path, capsys):
    path = tmp_path / "card.txt"
    for text, code in ((query(), 0), (query(PCC_INT_EN="True(1)"), 1)):
        path.write_text(text)
        assert cli.main(["doctor", "--card", str(path)]) == code
        assert ("PCC_INT_EN" in capsys.readouterr().out) == bool(code)
    assert cli.main(["doctor", "--card", str(tmp_path / "none.txt")]) == 2

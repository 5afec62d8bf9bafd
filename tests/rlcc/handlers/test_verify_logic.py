"""`rlcc verify` of a firmware with Verilog: what holds of it is printed, and what does not is a failure."""

from drawing import ACTIONS, FEATURES, make_student

from codegen.emit import emit
from decision.artefact.manifest import opened
from decision.artefact.output import writing
from decision.ir.forest import oblivious
from rlcc.gate.forms import rtl
from rlcc.gate.names import named
from rlcc.handlers.verify import _holds

IDS = ("equality.logic_vectors", "equality.logic", "equality.logic_wrapper")


def firmware(place):
    features = [FEATURES[kind] for kind in ("previous_action", "rl_cc_congestion")]
    with writing(place / "student", "student") as work:
        make_student(features, ACTIONS[0], (oblivious(((0, 100),), (-5, 6)),), window=2, bias=12).save(work)
    emit(place / "student", place / "firmware", target="rtl")
    return opened(place / "firmware", "firmware")


def judged(monkeypatch, wrong):
    """The checks are those of a judgement in which ``wrong`` does not hold."""

    def judge(*_):
        checks = [named(one)(value=f"of {one}", limit="", passed=one != wrong, file=f"{one}.v") for one in IDS]
        return checks, {"stages": 4}

    monkeypatch.setattr(rtl, "judge", judge)


def test_a_failed_check_of_the_logic_fails_the_proof_and_is_named(tmp_path, monkeypatch, capsys):
    folder = firmware(tmp_path)
    judged(monkeypatch, "")
    assert _holds(rtl, folder)
    said = capsys.readouterr()
    assert all(f"of {one}" in said.out + said.err for one in IDS)
    for wrong in IDS:
        judged(monkeypatch, wrong)
        assert not _holds(rtl, folder)
        assert f"{wrong}.v" in capsys.readouterr().out

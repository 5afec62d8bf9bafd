"""Trees of any shape with several outputs, walked once: proved and checked, and one wrong leaf of one output found."""

import re

import pytest
from other_interfaces import emitted, printed

from codegen.lower import Options
from decision.ir.forest import Branch, Leaf, oblivious
from decision.policy.model import GridFeature, Model
from emulator.firmware_folder import built as build_folder
from emulator.profile import load_profile
from verify.check.judge import Judge
from verify.check.path_facts import Oracle
from verify.check.recheck import recheck
from verify.check.refused import Refused
from verify.prover.certify import certify
from verify.prover.prove import ENTRY, Limits, prove
from verify.trusted.costs import cycle_model

ENGINE = load_profile("ibex-small")
FEATURES = (GridFeature("load", 0, 0, 900), GridFeature("delay", 4, -7000, 7000))
TREES = (
    Branch(
        0, 40, Branch(1, -300, Leaf((5, -900, 31)), Branch(0, 700, Leaf((7, 8, 9)), Leaf((-70, 0, 4)))), Leaf((1, 2, 0))
    ),
    Branch(1, 55, Leaf((0, 400, -3)), Branch(1, -6000, Leaf((11, 0, 0)), Leaf((-12, 13, 900)))),
    oblivious([(0, 300), (1, 0)], [(0, 0, 5), (0, 0, -6), (0, 0, 70), (0, 0, 8)]),
)
FORMS = {"branches": Options(form="branches"), "joint": Options(form="joint")}
CLASSES = Model(FEATURES, TREES, (3, -2, 1), 0, "argmax").program()
TARGETS = Model(FEATURES, TREES, (3, -2, 1), 0, "regression").program()


@pytest.mark.parametrize("program", [CLASSES, TARGETS], ids=["classes", "targets"])
@pytest.mark.parametrize("form", FORMS)
def test_a_certificate_is_proved_and_holds(form, program, tmp_path):
    folder = emitted(program, tmp_path / "firmware", printed(program, FORMS[form])[1])
    done = certify(build_folder(folder, profile=ENGINE))
    assert done.certificate is not None, done.problem
    assert done.certificate.claims.worst_case.exact
    assert recheck(done.certificate, done.build).exact


@pytest.mark.parametrize("output", [0, 1, 2])
def test_a_leaf_that_is_wrong_in_one_output_is_refused_by_prover_and_checker(output, tmp_path):
    source = printed(TARGETS, FORMS["branches"])[1]
    wrong = re.sub(rf"sum_of_{output} \+= (\(?-?\d+\)?);", rf"sum_of_{output} += (\1 + 1);", source, count=1)
    assert wrong != source
    built = build_folder(emitted(TARGETS, tmp_path / "firmware", wrong), profile=ENGINE)
    proof = prove(built.image, built.program, built.firmware.layouts, ENGINE, limits=Limits(worst_seconds=1))
    assert [failure.kind for failure in proof.failures][:1] == ["wrong-result"]
    entry, stack = built.image.symbols[ENTRY], ENGINE.limits.stack_bytes
    with pytest.raises(Refused):
        Judge(
            built.image, entry, built.program, built.firmware.layouts, (), cycle_model(ENGINE), stack, Oracle()
        ).bound()

"""memcpy and memset in RV64 assembly, and as compilers call them for small code."""

import pytest
from adapter_proofs import proved
from rv64_by_hand import BASE, assembled, image_of

from verify.adapter.build import AdapterBuild
from verify.adapter.libc import LIBRARY
from verify.adapter.prove import AdapterProof, _Case
from verify.adapter.transition import Transition
from verify.adapter.values import Unknowns
from verify.code.failures import Refused

CODE = """
    .option norvc
    j 1f
    ret
1:  {}
    j . - {}
"""


def case_of(name, instructions, folder):
    """Four words of a context are changed by one call of a library's function."""
    unknowns = Unknowns()
    words = [unknowns.u32(f"word {n}") for n in range(4)]
    zero = unknowns.number(0)
    transition = Transition("entry", unknowns, [unknowns.words.pointer("context")])
    transition.add("context", words, written=True)
    after = [words[2], words[3], *words[2:]] if name == "memcpy" else [words[0], zero, zero, words[3]]
    transition.leave("context", dict(zip("abcd", after, strict=True)))
    text = CODE.format("; ".join(instructions), 4 * (len(instructions) + 1))
    build = AdapterBuild(image_of(assembled(text, folder)), BASE, {BASE + 4: name}, 64)
    return _Case(build, transition, LIBRARY, AdapterProof("by hand"))


@pytest.mark.parametrize(
    ("name", "instructions"),
    [("memcpy", ("addi a1, a0, 8", "li a2, 8")), ("memset", ("addi a0, a0, 4", "li a1, 0", "li a2, 8"))],
)
def test_words_are_copied_and_filled(name, instructions, tmp_path):
    case = case_of(name, instructions, tmp_path)
    case.run()
    assert case.proof.outputs == 4


@pytest.mark.parametrize(
    ("name", "instructions", "kind"),
    [
        ("memcpy", ("addi a1, a0, 8", "li a2, 12"), "not-proved"),  # they overlap
        ("memcpy", ("addi a1, a0, 12", "li a2, 8"), "load-outside"),
        ("memcpy", ("addi a1, a0, 8", "li a2, 6"), "not-proved"),  # a part of a word
        ("memcpy", ("addi a1, a0, 8", "lw a2, 0(a0)"), "load-address"),
        ("memcpy", ("li a1, 0", "li a2, 8"), "load-address"),
        ("memset", ("li a1, 1", "li a2, 8"), "not-proved"),
        ("memset", ("li a1, 0", "li a2, 20"), "store-outside"),
    ],
)
def test_other_calls_are_refused(name, instructions, kind, tmp_path):
    with pytest.raises(Refused) as error:
        case_of(name, instructions, tmp_path).run()
    assert error.value.failure.kind == kind


def test_an_adapter_that_copies_by_the_library_is_proved(firmware):
    proof = proved(firmware("all-once", "doca-pcc"), opt="-Os")
    assert (proof.verdict, proof.text) == ("proved", "")
    assert proof.calls > proved(firmware("all-once", "doca-pcc")).calls

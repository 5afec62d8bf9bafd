"""Vectors run through the emitted Verilog, with and without stalls.

Slow: the other seed of each module.
"""

import re

import pytest

from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from verify.rtl.simulate import simulate


@pytest.mark.slow_except("sum-0")
@pytest.mark.parametrize("seed", [0, 5])
def test_every_vector_comes_out_as_the_program_says(firmware, seed):
    found = simulate(firmware, seed=seed)
    assert found.vectors == firmware.details["vectors"] > 100
    assert found.differing == 0
    assert found.clocks >= found.vectors


@pytest.mark.slow_except("sum")
def test_a_wrong_threshold_is_seen(firmware):
    from dataclasses import replace

    file = "rtl/rlcc_policy.v"
    changed = re.sub(rb"(= \(\w+\[\d\]) \|", rb"\1 &", firmware.content(file))
    assert changed != firmware.content(file)
    other = replace(firmware, contents={**firmware.contents, file: changed})
    assert simulate(other).differing > 0


def test_firmware_without_verilog_is_one_sentence(tmp_path, emitted_logic):
    from codegen.emit import emit

    folder = emitted_logic(1).folder.parent
    emit(folder / "student", tmp_path / "firmware", target="bare")
    with pytest.raises(InputError):
        simulate(opened(tmp_path / "firmware", "firmware"))

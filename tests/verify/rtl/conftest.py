"""Two modules with their programs: trees that are a table, and trees that are summed."""

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student

from codegen.rtl.emit import FOLDER
from decision.artefact.manifest import opened
from decision.ir.forest import oblivious
from decision.ir.program_json import program_from_json


@pytest.fixture(scope="session", params=[1, 9], ids=["table", "sum"])
def firmware(request, emitted_logic):
    """The folder of a student with trees over so many questions a feature."""
    return emitted_logic(request.param)


@pytest.fixture(scope="session")
def emitted_logic(tmp_path_factory):
    from codegen.emit import emit
    from decision.artefact.output import writing

    def make(trees):
        rng = np.random.default_rng(3)
        grown = []
        for number in range(trees):
            leaves = tuple(rng.integers(-5000, 6000, size=8).tolist())
            grown.append(oblivious(((0, 100 + number), (1, 4000 + 10 * number), (2, 5 + number)), leaves))
        features = [FEATURES[kind] for kind in ("previous_action", "rl_cc_congestion")]
        folder = tmp_path_factory.mktemp("logic")
        with writing(folder / "student", "student") as work:
            make_student(features, ACTIONS[0], tuple(grown), window=2, bias=12).save(work)
        emit(folder / "student", folder / "firmware", target="rtl", seed=1)
        return opened(folder / "firmware", "firmware")

    return make


@pytest.fixture(scope="session")
def text(firmware):
    return firmware.content(f"{FOLDER}/rlcc_policy.v").decode()


@pytest.fixture(scope="session")
def program(firmware):
    return program_from_json(firmware.json("program.json"))

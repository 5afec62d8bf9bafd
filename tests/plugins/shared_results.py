"""Results that tests of one worker share: what the commands work out of the same arguments is worked out once.

`bench.forge.memory` says which functions these are, and compares arguments by their whole content: a firmware with an
edited byte is judged anew. A test that replaces anything (it has the fixture ``monkeypatch``) neither takes a result
nor leaves one, nor does one of a module that says ``NOTHING_SHARED = True``. The checker then runs in the test's own
process; that it has one of its own otherwise is tested by tests/verify/check/test_boundary_process.py and by the runs
of tests/rlcc/test_pipeline.py.
"""

from collections.abc import Iterator

import pytest
from shared_answers import shares

from bench.forge.memory import REMEMBERED, ForgeryMemory, remembering

MEMORY = ForgeryMemory(latest=40)
CERTIFYING = (("verify.prover.certify", "calibrate"), ("verify.prover.certify", "_prove"))
FUNCTIONS = (*REMEMBERED, *CERTIFYING)


@pytest.fixture(autouse=True)
def shared_results(request: pytest.FixtureRequest) -> Iterator[None]:
    if not shares() or "monkeypatch" in request.fixturenames or getattr(request.module, "NOTHING_SHARED", False):
        yield
        return
    with remembering(MEMORY, FUNCTIONS):
        yield

"""The bench of engines: what it says of a run is what the run did."""

from pathlib import Path

import numpy as np
import pytest

from bench import engine
from decision.artefact.errors import InputError
from netsim import Engines
from netsim.network import US
from rlcc.policies import by_path


def test_a_run_is_seen_by_the_millisecond() -> None:
    """64 flows begin at line rate: they overload the port, drop, and a fast policy has them after some 12 ms."""
    with by_path(Path("fixtures/teachers/rl-cc-mlp")) as named:
        decider = engine.EngineDecider("MLP", named.policy, US)  # type: ignore[arg-type]
        ((found,),) = engine.run(
            [engine.EngineTask(decider, "many-to-one:4x16", Engines(1), engine.WINDOW_MS[1], (1,))]
        )
    assert found.queue_kb.size == found.goodput.size == engine.WINDOW_MS[1]
    assert 5 <= found.drops_until_ms <= 20
    assert found.queue_kb[: int(found.drops_until_ms) - 2].max() > 4000
    assert found.metrics["loss"] == 0
    begin, end = engine.WINDOW_MS
    assert np.mean(found.goodput[begin:end]) == pytest.approx(found.metrics["goodput"], rel=1e-3)
    assert 0.3 < found.metrics["engine_utilisation"] < 1


def test_a_missing_firmware_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["bench.engine", "no/firmware"])
    with pytest.raises(InputError, match="make it with `make demo`"):
        engine.main()

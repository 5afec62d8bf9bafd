"""The rounds of a distillation in a folder, so that one that was stopped goes on at the round that it was in.

    student.rounds/
      round-0/
        manifest.json                   hashes of the files, and the key of the distillation
        student.json, student.cbm       the round's fit
        rows.npz                        the labelled rows that it adds
        round.json                      what was measured

A round is an artefact: written whole or not at all, and hashed. The key is a hash of all that decides a distillation
(rlcc.stages): rounds of another key are not used.
"""

import io
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from catboost import CatBoostError

from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.output import check_place, write_atomically, writing
from distill.closeness import Distance, Metrics, Place, Round
from distill.dataset import Dataset
from distill.fitted_student import Fitted
from distill.racing import Standing
from distill.student_artefact import TOOLS

KIND = "round"
ROWS, MEASURED = "rows.npz", "round.json"


@dataclass(frozen=True)
class RoundRecord:
    """The results of one round of DAgger, for the next rounds and for the choice between them.

    - ``rows``: datasets that its fit was made on besides those of the rounds before
    - ``new``: datasets that it adds for the next rounds
    - ``own``, ``theirs``: metrics of student and teacher, network by network
    - ``deviation``: the largest from the teacher's action range, where the options limit it
    - ``noise``: of the teacher, measured in the first round
    """

    fitted: Fitted
    rows: list[Dataset]
    new: list[Dataset]
    figures: Round
    standing: Standing
    visits: dict[str, Any]
    own: Mapping[Place, Metrics]
    theirs: Mapping[Place, Metrics]
    deviation: float | None = None
    noise: Distance | None = None


class Rounds:
    """The rounds of one distillation, in ``folder``. ``key``: hash of all that decides it. ``reused``: how many rounds
    were read; ``refused``: why the next one that was there was not used, one sentence."""

    def __init__(self, folder: Path, key: str) -> None:
        self.folder, self.key = folder, key
        self.reused = 0
        self.refused = ""

    def read(self, number: int) -> RoundRecord | None:
        """Returns the round; None where it, or one before it, is not there or cannot be used."""
        place = self._place(number)
        if number != self.reused or self.refused or not place.exists():
            return None
        try:
            record = self._read(place)
        except InputError as error:
            self.refused = str(error)
            return None
        self.reused += 1
        return record

    def write(self, number: int, record: RoundRecord, *, seed: int) -> None:
        """Writes the round, whole or not at all."""
        parents = {"distillation": self.key}
        with writing(self._place(number), KIND, parents=parents, tools=TOOLS, seed=seed) as work:
            record.fitted.write(work)
            write_atomically(work / ROWS, _packed(record))
            write_atomically(work / MEASURED, dump_json(_measured(record)))

    def discard(self) -> None:
        """Removes the rounds, and their folder if nothing else is in it."""
        if self.folder.is_symlink() or not self.folder.is_dir():
            return
        for place in self.folder.iterdir():
            with suppress(InputError):
                check_place(place, KIND)
                shutil.rmtree(place, ignore_errors=True)
        with suppress(OSError):
            self.folder.rmdir()

    def _place(self, number: int) -> Path:
        return self.folder / f"round-{number}"

    def _read(self, place: Path) -> RoundRecord:
        artefact = opened(place, KIND)
        if artefact.parent("distillation", place) != self.key:
            raise InputError(f"{place} is of another recipe, teacher, rollouts or version of rlcc")
        try:
            measured = artefact.json(MEASURED)
            parameters = {str(name): str(text) for name, text in measured["parameters"].items()}
            fitted = Fitted.read(artefact.contents, place, int(measured["points"]), parameters)
            return _record(measured, fitted, _unpacked(artefact.content(ROWS)))
        except (KeyError, TypeError, ValueError, AttributeError, EOFError, zipfile.BadZipFile, CatBoostError) as error:
            raise InputError(f"{place} is not readable ({error!r})") from None


def _packed(record: RoundRecord) -> bytes:
    arrays = {
        f"{group}.{number}.{name}": column
        for group, datasets in (("rows", record.rows), ("new", record.new))
        for number, data in enumerate(datasets)
        for name, column in (("x", data.x), ("y", data.y), ("weight", data.weight))
    }
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # names are no options of savez
    return buffer.getvalue()


def _unpacked(content: bytes) -> dict[str, list[Dataset]]:
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    groups: dict[str, list[Dataset]] = {"rows": [], "new": []}
    for group, datasets in groups.items():
        while f"{group}.{len(datasets)}.x" in arrays:
            columns = {name: arrays[f"{group}.{len(datasets)}.{name}"] for name in ("x", "y", "weight")}
            datasets.append(Dataset(**columns))
    return groups


def _measured(record: RoundRecord) -> dict[str, Any]:
    """Every figure of a round as JSON."""
    standing = record.standing
    return {
        "points": record.fitted.points,
        "parameters": record.fitted.parameters,
        "decisions": record.figures.decisions,
        "fit_rmse": record.figures.fit_rmse,
        "rmse": record.figures.rmse,
        "worst": _of_distance(standing.worst),
        "place": list(standing.place),
        "networks": standing.networks,
        "given_up": standing.given_up,
        "visits": record.visits,
        "own": _of_metrics(record.own),
        "theirs": _of_metrics(record.theirs),
        "deviation": record.deviation,
        "noise": None if record.noise is None else _of_distance(record.noise),
    }


def _record(measured: Mapping[str, Any], fitted: Fitted, datasets: Mapping[str, list[Dataset]]) -> RoundRecord:
    scenario, seed = measured["place"]
    worst, networks = _distance(measured["worst"]), int(measured["networks"])
    return RoundRecord(
        fitted=fitted,
        rows=datasets["rows"],
        new=datasets["new"],
        figures=Round(
            int(measured["decisions"]), float(measured["fit_rmse"]), float(measured["rmse"]), worst, networks
        ),
        standing=Standing(worst, (str(scenario), int(seed)), networks, bool(measured["given_up"])),
        visits=dict(measured["visits"]),
        own=_metrics(measured["own"]),
        theirs=_metrics(measured["theirs"]),
        deviation=None if measured["deviation"] is None else float(measured["deviation"]),
        noise=None if measured["noise"] is None else _distance(measured["noise"]),
    )


def _number(value: float) -> float | str:
    """The number, exactly; JSON has none that is not finite."""
    return float(value) if isfinite(value) else repr(float(value))


def _of_distance(one: Distance) -> dict[str, Any]:
    return vars(one) | {"value": _number(one.value), "of_tolerance": _number(one.of_tolerance)}


def _distance(data: Mapping[str, Any]) -> Distance:
    value, times = float(data["value"]), float(data["of_tolerance"])
    return Distance(str(data["scenario"]), str(data["metric"]), value, times)


def _of_metrics(metrics: Mapping[Place, Metrics]) -> list[Any]:
    return [[*place, {name: _number(value) for name, value in some.items()}] for place, some in metrics.items()]


def _metrics(data: Sequence[Any]) -> dict[Place, Metrics]:
    return {
        (str(scenario), int(seed)): {str(name): float(value) for name, value in some.items()}
        for scenario, seed, some in data
    }

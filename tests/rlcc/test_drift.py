"""`rlcc visits` and `rlcc drift`: where a student is asked, in networks and on a device, and whether that is new."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.policy.visits import Intervals, Visits, counted
from emulator.firmware_folder import read_firmware
from emulator.samples import sample_type, visits_of
from emulator.tree_inputs import tree_inputs
from emulator.vectors import vectors_of
from rlcc import cli
from rlcc.drift import PARTS, FeatureDrift, drift, interval
from rlcc.monitor import header

BEFORE = Visits("ab", {"a": 800, "b": 150, "c": 50}, {"x": Intervals((10, 20), (800, 150, 50))})


def now(a: int, b: int, c: int, **others: int) -> Visits:
    cells = {name: count for name, count in {"a": a, "b": b, "c": c, **others}.items() if count}
    return Visits("ab", cells, {"x": Intervals((10, 20), (a, b, c))})


def test_the_same_traffic_has_not_drifted() -> None:
    same = drift(now(8000, 1500, 500), BEFORE)
    assert (same.decisions, same.apart, same.beyond, same.unseen) == (10_000, 0.0, 0.0, 0.0)
    assert same.features == (FeatureDrift("x", 0.0, 0.0, None),)


def test_one_of_the_networks_alone_is_apart_but_not_beyond() -> None:
    alone = drift(now(600, 0, 400), BEFORE)
    assert alone.apart == pytest.approx(0.35)
    assert alone.beyond == 0 == 0.4 - PARTS * 0.05
    more = drift(now(590, 0, 410), BEFORE)
    assert (more.beyond, more.features[0].beyond) == (pytest.approx(0.01), pytest.approx(0.01))
    assert interval(more.features[0].new or (None, None)) == "above 20"


def test_what_was_never_met_is_all_beyond() -> None:
    new = drift(now(0, 0, 0, d=300, e=700), BEFORE)
    assert (new.apart, new.beyond, new.unseen) == (1.0, 1.0, 1.0)
    partly = drift(now(900, 0, 0, d=100), BEFORE)
    assert (partly.beyond, partly.unseen) == (pytest.approx(0.1), pytest.approx(0.1))
    assert interval((10, 20)) == "11 to 20"
    assert interval((None, 10)) == "10 at most"


@pytest.mark.parametrize(
    ("here", "before", "words"),
    [
        (Visits("cd", {"a": 2000}, {}), BEFORE, r"student cd .*ab"),
        (now(999, 0, 0), BEFORE, r"999 .*1000 "),
        (now(9990, 0, 0), Visits("ab", {"a": 999}, {}), "of 999 decisions"),
    ],
)
def test_visits_that_tell_nothing_are_refused(here: Visits, before: Visits, words: str) -> None:
    with pytest.raises(InputError, match=words):
        drift(here, before)


def test_a_change_of_traffic_is_told(pipeline: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The recipe's networks with another seed are nothing new; decisions in cells that were never met are."""
    made_on, same, other = (tmp_path / f"{name}.json" for name in ("made", "same", "new"))
    asked = ["visits", str(pipeline.student), "--recipe", str(pipeline.recipe), "--where", "here"]
    assert cli.main([*asked, "--out", str(made_on)]) == 0
    assert cli.main([*asked, "--seed", "7", "--out", str(same)]) == 0
    capsys.readouterr()
    assert cli.main(["drift", str(same), str(made_on)]) == 0
    assert "it was made: " in capsys.readouterr().out
    visits = Visits.read(same)
    replace(visits, cells={**visits.cells, "new": visits.decisions}).write(other)
    assert cli.main(["drift", str(other), str(made_on)]) == 1
    told = capsys.readouterr().out
    assert "50.0% in cells" in told
    assert "DRIFTED: 50.0% of" in told
    assert cli.main(["drift", str(other), str(made_on), "--most", "60 %"]) == 0
    assert cli.main(["drift", str(same), str(other), str(made_on)]) == 1


def test_a_device_s_samples_count_as_the_program_has_them(pipeline: Any, tmp_path: Path) -> None:
    """The header, compiled, takes every 7th of the vectors; they are in the cells that the student's own trees say."""
    firmware = read_firmware(pipeline.firmware)
    (tmp_path / "rlcc_monitor.h").write_text(header(firmware))
    shutil.copy(firmware.folder / "rlcc_policy.h", tmp_path)
    sample, records = sample_type(firmware), vectors_of(firmware).records
    given = np.zeros(len(vectors_of(firmware)), sample)
    for name in sample.names or ():
        given[name] = records[name]
    (tmp_path / "given.bin").write_bytes(given.tobytes())
    (tmp_path / "take.c").write_text(TAKE)
    take = tmp_path / "take"
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["cc", *strict, "-o", take, tmp_path / "take.c"], check=True)
    taken = subprocess.run([take, tmp_path / "given.bin"], check=True, capture_output=True).stdout
    assert sorted(_rows(taken, sample)) == sorted(_rows(given[::7][-4:].tobytes(), sample))

    (tmp_path / "taken.bin").write_bytes(given[::7].tobytes())
    forest = firmware.program.forest
    assert forest is not None
    assert (
        visits_of("ab", firmware, tmp_path / "taken.bin").cells
        == counted("ab", forest, tree_inputs(firmware)[::7]).cells
    )
    out = tmp_path / "counts.json"
    assert cli.main(["visits", str(firmware.folder), "--samples", str(tmp_path / "given.bin"), "--out", str(out)]) == 0
    counts = Visits.read(out)
    assert (counts.decisions, counts.student) == (len(given), firmware.manifest.parents["student"])


def test_firmware_and_its_student_are_asked_in_the_same_cells(pipeline: Any, tmp_path: Path) -> None:
    """Whichever of the two is named, in the same network: one student, one hash, the same counts."""
    student, firmware = tmp_path / "student.json", tmp_path / "firmware.json"
    for source, out in ((pipeline.student, student), (pipeline.firmware, firmware)):
        asked = ["visits", str(source), "--scenario", "many-to-one:4", "--duration", "2 ms", "--out", str(out)]
        assert cli.main([*asked, "--where", "here"]) == 0
    assert student.read_bytes() == firmware.read_bytes()


def _rows(data: bytes, sample: "np.dtype[np.void]") -> list[bytes]:
    return [data[at : at + sample.itemsize] for at in range(0, len(data), sample.itemsize)]


TAKE = """
#define RLCC_MONITOR_EVERY 7U
#define RLCC_MONITOR_SAMPLES 4U
#include "rlcc_monitor.h"
#include <stdio.h>

int main(int count, char **names)
{
    static rlcc_monitor monitor;
    static rlcc_sample sample;
    FILE *file = count == 2 ? fopen(names[1], "rb") : NULL;

    if (file == NULL) {
        return 1;
    }
    while (fread(&sample, sizeof sample, 1U, file) == 1U) {
        rlcc_monitor_take(&monitor, &sample.before, &sample.event, &sample.params);
    }
    (void)fclose(file);
    return fwrite(monitor.kept, sizeof monitor.kept[0], RLCC_MONITOR_SAMPLES, stdout) == RLCC_MONITOR_SAMPLES ? 0 : 1;
}
"""


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["visits", "{student}"], "name what to"),
        (["visits", "{student}", "--monitor", "{new}"], "device runs firmware"),
        (["visits", "{student}", "--samples", "{new}", "--out", "{new}"], "device runs firmware"),
        (["visits", "{firmware}", "--samples", "{odd}", "--out", "{new}"], "3 bytes, no whole"),
        (["visits", "{firmware}", "--out", "{firmware}/x.json"], "of the firmware"),
        (["visits", "{teacher}", "--out", "{new}"], "of a student"),
        (["visits", "{student}", "--scenario", "many-to-two:2", "--out", "{new}"], "unknown scenario"),
        (["drift", "{odd}", "{odd}"], "is not valid JSON"),
        (["drift", "{new}", "{odd}"], "no file"),
        (["drift", "{odd}"], "Missing argument"),
    ],
)
def test_bad_input_is_one_sentence(
    asked: list[str], words: str, pipeline: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd").write_bytes(b"abc")
    places = {"student": pipeline.student, "firmware": pipeline.firmware, "teacher": pipeline.teacher}
    places |= {"odd": tmp_path / "odd", "new": tmp_path / "new"}
    assert cli.main([part.format(**places) for part in asked]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert "Traceback" not in told
    assert not (tmp_path / "new").exists()

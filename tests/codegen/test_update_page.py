"""The C of docs/how-to/update.md as it stands there: flows decide under the old policy, the image is replaced, and the
new policy goes on from their contexts."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from drawing import ACTIONS, FEATURES, make_student

from codegen.emit import emit
from codegen.lower import Options
from codegen.migration import migration
from decision.artefact.output import writing
from decision.ir.forest import oblivious
from emulator.firmware_folder import read_firmware

PAGE = Path(__file__).resolve().parents[2] / "docs/how-to/update.md"
FLOWS = 12
RATE = "rate_q30"
RANK = "congestion_q20_1_rank"

# {update}: the block of the page. The stored number is that of the old image, but for what {stored} says.
MAIN = """
#include <stdio.h>
#include <string.h>
#include "old_policy.h"
#include "rlcc_migrate.h"
#define EVENT(i, n) {.request_sent_ns = 100000U * (n), .response_ns = 100000U * (n) + 8192U + 1500U * (i)}
int main(void) {
    enum { flows = 12 };
    const old_params before_params = OLD_PARAMS_DEFAULT;
    const rlcc_params params = RLCC_PARAMS_DEFAULT;
    static old_flow live[flows];
    static rlcc_flow new_table[flows];
    rlcc_flow_before before;
    unsigned char old_table[sizeof live];
    uint32_t stored_layout = OLD_LAYOUT;
    unsigned i, n;
    for (n = 0; n < 5U; n++) {
        for (i = 0; i < flows; i++) {
            const old_event event = EVENT(i, n);
            (void)old_decide(&live[i], &event, &before_params);
        }
    }
    memcpy(old_table, live, sizeof live);
    memcpy(new_table, live, sizeof live); /* one table, as after an update of the code alone */
    stored_layout = {stored};
{update}
    printf("%d\\n", stored_layout == RLCC_LAYOUT);
    for (i = 0; i < flows; i++) {
        const rlcc_event event = EVENT(i, 5U);
        printf("%lu %u ", (unsigned long)live[i].rate_q30, (unsigned)live[i].congestion_q20_1_rank);
        printf("%lu %u ", (unsigned long)new_table[i].rate_q30, (unsigned)new_table[i].congestion_q20_1_rank);
        printf("%lu\\n", (unsigned long)rlcc_decide(&new_table[i], &event, &params));
    }
    return 0;
}
"""


@dataclass(frozen=True)
class UpdatedFlow:
    """A flow's context before and after the update, and the first decision that follows."""

    rate_before: int
    rank_before: int
    rate: int
    rank: int
    decision: int


def page_update() -> str:
    """Returns the C block of the page that compares the layouts."""
    (block,) = [one for one in re.findall(r"```c\n(.*?)```", PAGE.read_text(), re.DOTALL) if "rlcc_migrate(" in one]
    return block


def firmware(folder: Path, threshold: int, prefix: str) -> Path:
    """Returns firmware of one tree over the congestion now and at the last decision."""
    features = [FEATURES["previous_action"], FEATURES["rl_cc_congestion"]]
    tree = oblivious(((1, threshold), (3, threshold + 7)), (-3000, -100, 40, 2000))
    with writing(folder / f"{prefix}_student", "student") as work:
        make_student(features, ACTIONS[0], (tree,), window=2).save(work)
    emit(folder / f"{prefix}_student", folder / prefix, target="generic", prefix=prefix, options=Options(form="joint"))
    return folder / prefix


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``old`` and ``rlcc``, whose ranks count other thresholds at the same byte, and the header between them."""
    root = tmp_path_factory.mktemp("update")
    old, new = (read_firmware(firmware(root, *one)).program for one in ((2_000_000, "old"), (4_300_000, "rlcc")))
    assert {RATE, RANK} <= {field.name for field in old.state}
    assert [(f.name, f.storage) for f in old.state] == [(f.name, f.storage) for f in new.state]
    (root / "rlcc_migrate.h").write_text(migration(old, new, ("old", "new"), "rlcc"))
    return root


def updated(images: Path, folder: Path, stored: str, update: str) -> tuple[bool, list[UpdatedFlow]]:
    """Returns whether the new layout is stored after the update, and each flow."""
    main = MAIN.replace("{stored}", stored).replace("{update}", update)
    (folder / "main.c").write_text(main)
    sources = [images / name / f"{name}_policy.c" for name in ("old", "rlcc")]
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined,address", f"-I{images}"]
    command += [*(f"-I{source.parent}" for source in sources), "main.c", *map(str, sources), "-o", "image"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, *rows = subprocess.run([folder / "image"], capture_output=True, text=True, check=True).stdout.splitlines()
    flows = [UpdatedFlow(*map(int, row.split())) for row in rows]
    assert len(flows) == FLOWS
    return first == "1", flows


def test_contexts_of_another_layout_are_migrated(images: Path, tmp_path: Path) -> None:
    """The rate goes on, the rank is reset. Without the page's block the rank is misread, and decisions differ."""
    stored, flows = updated(images, tmp_path, "OLD_LAYOUT", page_update())
    assert stored
    assert all((flow.rate, flow.rank) == (flow.rate_before, 0) for flow in flows)
    assert len({flow.rank_before for flow in flows}) == 2
    assert len({flow.rate_before for flow in flows}) > 1
    stored, misread = updated(images, tmp_path, "OLD_LAYOUT", "(void)before; (void)old_table;")
    assert not stored
    assert [flow.rank for flow in misread] == [flow.rank_before for flow in misread]
    assert [flow.decision for flow in misread] != [flow.decision for flow in flows]


def test_contexts_of_an_unknown_layout_are_reset(images: Path, tmp_path: Path) -> None:
    stored, flows = updated(images, tmp_path, "OLD_LAYOUT ^ RLCC_LAYOUT ^ 1U", page_update())
    assert stored
    assert {(flow.rate, flow.rank) for flow in flows} == {(0, 0)}


def test_contexts_of_the_same_layout_stay(images: Path, tmp_path: Path) -> None:
    stored, flows = updated(images, tmp_path, "RLCC_LAYOUT", page_update())
    assert stored
    assert all((flow.rate, flow.rank) == (flow.rate_before, flow.rank_before) for flow in flows)

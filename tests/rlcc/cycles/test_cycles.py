"""Cycles told to stages, parts and lines of the emitted C, for each form of the trees."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from drawing import ACTIONS, FEATURES, make_student

from codegen.emit import emit
from codegen.lower import Options
from decision.artefact.output import writing
from decision.ir.forest import oblivious
from emulator.firmware_folder import built
from rlcc import cli
from rlcc.cycles.flame import flame
from rlcc.cycles.measure import measure
from rlcc.cycles.parts import ACTION, CONTEXT, OTHER, STAGES, SUM, parts_of_decide, stage_of
from rlcc.cycles.parts import FEATURES as FEATURE_PART

TREES = (
    oblivious(((0, 100), (1, 5000)), (-3000, -100, 40, 2000)),
    oblivious(((1, 700), (1, 90000)), (1, 20, 300, 4000)),
    oblivious(((1, 12000),), (-7, 900)),
)
FORMS = {
    "branches": ({"tree 0", "tree 1", "tree 2"}, {SUM}),
    "one function": ({"tree 0", "tree 1", "tree 2"}, {SUM}),
    "index": ({"tree 0", "tree 1", "tree 2"}, {SUM}),
    "joint": ({"place of congestion_q20"}, {SUM}),
}


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("cycles")
    student = make_student([FEATURES["previous_action"], FEATURES["rl_cc_congestion"]], ACTIONS[0], TREES)
    with writing(folder / "student", "student") as work:
        student.save(work)
    for form in FORMS:
        options = Options(form="branches", one_function=True) if form == "one function" else Options(form=form)
        emit(folder / "student", folder / form, target="generic", options=options)
    return {form: folder / form for form in FORMS}


@pytest.mark.parametrize("form", FORMS)
def test_every_line_of_the_decision_is_of_a_part(firmware: dict[str, Path], form: str) -> None:
    lines = (firmware[form] / "rlcc_policy.c").read_text().splitlines()
    found = parts_of_decide(lines)
    first = next(n for n, line in enumerate(lines, 1) if line.startswith("RLCC_CODE uint32_t rlcc_decide("))
    last = next(n for n, line in enumerate(lines, 1) if n > first and line == "}")
    assert set(found) == set(range(first, last + 1)) | {last + 1} or set(found) == set(range(first, last + 1))
    for n in range(first, last + 1):
        text = lines[n - 1].strip()
        if text.startswith("const uint32_t rtt_ns"):
            assert found[n] == FEATURE_PART
        if text.startswith("flow->"):
            assert found[n] == CONTEXT
        if text.startswith(("const uint32_t rate_new_q30", "return")):
            assert found[n] == ACTION
    if form in ("one function", "index"):
        assert FORMS[form][0] <= set(found.values())
    assert {stage_of(part) for part in found.values()} == set(STAGES)


@pytest.mark.slow_except("branches", "joint")
@pytest.mark.parametrize("form", FORMS)
def test_all_cycles_are_told(firmware: dict[str, Path], form: str) -> None:
    build = built(firmware[form], profile="ibex-small")
    engine, paths = build.engine, measure(build)
    assert engine.name == "ibex-small"
    source = (firmware[form] / "rlcc_policy.c").read_text().splitlines()
    first = next(n for n, line in enumerate(source, 1) if line.startswith("RLCC_CODE uint32_t rlcc_decide("))
    for cost in (cost for path in paths for cost in path.lines if cost.line):
        assert (cost.line >= first) == (cost.function == "rlcc_decide"), cost
    assert [path.name for path in paths] == ["worst", "mean"]
    for path in paths:
        assert sum(cost.cycles for cost in path.lines) == pytest.approx(path.cycles)
        assert sum(path.by_part().values()) == pytest.approx(path.cycles)
        parts = path.by_part()
        assert parts[FEATURE_PART] > 10  # two products, at least, and loads
        assert parts[CONTEXT] == 2 * 2  # two stores of two cycles
        assert parts.get(OTHER, 0) <= 12
        stages = [stage_of(part) for part in parts]
        assert stages == sorted(stages, key=STAGES.index)
    worst, mean = paths
    assert worst.cycles > mean.cycles
    assert "slowest vector" in worst.of  # there is no certificate
    assert FORMS[form][0] & set(mean.by_part())


def test_the_picture_is_as_wide_as_the_cycles(firmware: dict[str, Path]) -> None:
    paths = measure(built(firmware["branches"], profile="ibex-small"))
    root = ElementTree.fromstring(flame(paths[0], "a & b < c"))
    space = "{http://www.w3.org/2000/svg}"
    boxes = [(g.find(f"{space}title").text, g.find(f"{space}rect").attrib) for g in root.iter(f"{space}g")]
    whole = float(boxes[0][1]["width"])
    lines = [rect for title, rect in boxes if title.startswith("line ")]
    assert len(lines) == sum(1 for cost in paths[0].lines if cost.line)
    assert sum(float(rect["width"]) + 1 for rect in lines) <= whole + 2
    ends = [float(rect["x"]) + float(rect["width"]) for _, rect in boxes]
    assert max(ends) <= 1200


def test_behind_a_network_comes_the_action() -> None:
    lines = [
        "uint32_t rlcc_decide(rlcc_flow *flow, const rlcc_event *event, const rlcc_params *params)",
        "{",
        "    const int32_t action_1 = (int32_t)flow->action_1;",
        "    const int16_t inputs[1] = {(int16_t)action_1};",
        "    const int32_t network = rlcc_network(inputs); /* the action it puts out, Q16 */",
        "    const int32_t multiplier_q16_signed = network + 65536;",
        "",
        "    flow->action_1 = (int16_t)network;",
        "",
        "    return rate_q20;",
        "}",
    ]
    found = parts_of_decide(lines)
    assert [found[n] for n in (3, 4, 5, 6, 8, 10)] == [
        FEATURE_PART, FEATURE_PART, "rlcc_network", ACTION, CONTEXT, ACTION,
    ]  # fmt: skip


def test_an_agent_that_is_no_flow_has_a_context_and_several_knobs() -> None:
    lines = [
        "void rlcc_decide(rlcc_queue *queue, const rlcc_event *event, const rlcc_params *params, rlcc_action *action)",
        "{",
        "    const uint32_t length = event->queue_bytes;",
        "    int32_t sum_of_0 = tree_00(length);",
        "    const uint32_t kmin = (uint32_t)sum_of_0;",
        "    queue->kmin_1 = kmin;",
        "    action->kmin_bytes = kmin;",
        "}",
    ]
    told = parts_of_decide(lines)
    assert [told[n] for n in (3, 4, 5, 6, 7)] == [FEATURE_PART, "tree 0", ACTION, CONTEXT, ACTION]


@pytest.mark.parametrize(
    ("command", "option", "place"), [("cycles", "--out", ""), ("emulate", "--json", "report.json")]
)
def test_nothing_is_written_into_the_firmware_folder(
    firmware: dict[str, Path], capsys: pytest.CaptureFixture[str], command: str, option: str, place: str
) -> None:
    """Its manifest names every file: with one more no command would read it again."""
    folder = firmware["joint"]
    before = sorted(folder.iterdir())
    assert cli.main([command, str(folder), option, str(folder / place)]) == 2
    assert "of the firmware" in capsys.readouterr().err
    assert sorted(folder.iterdir()) == before

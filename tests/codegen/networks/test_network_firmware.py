"""The emitted folder: its C is the program on the host and on the core, and no error in it goes unseen.

Slow: further shapes, targets and networks on the core.
"""

import re
import subprocess

import numpy as np
import pytest
from drawn_teachers import CONGESTION, LSTM, drawn, emission

from codegen.differences import differences
from codegen.migration import migration
from codegen.networks.body import emit_network
from codegen.networks.printer import inputs_of
from codegen.networks.quantise import Bits
from codegen.networks.vectors import cases
from codegen.targets import TARGETS
from decision.artefact.documents import load_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.output import writing
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import evaluate, trace
from decision.ir.program_json import program_from_json
from decision.policy.deciders import load_pupil
from decision.policy.records import Trajectories
from emulator.firmware_folder import read_firmware
from emulator.host import host_compilers, run_on_host
from emulator.run import emulate
from emulator.shared_library import shared_library
from emulator.vectors import vectors_of
from netsim import simulate
from netsim.policies import Installed, compiled

FILES = {
    *("rlcc_policy.c", "rlcc_policy.h", "rlcc_policy.mk", "rlcc_selftest.c", "vectors.csv", "vectors.inc"),
    *("program.json", "network.json", "README.md", "rlcc_identity.c", "rlcc_main_loop.c"),
}
WIDE = [
    ({"kind": "mlp", "hidden": [9, 7], "bias": True}, Bits(8, 8), None),
    ({"kind": "lstm", "hidden": [5, 4], "lstm": 6, "bias": True}, Bits(16, 16), None),
    ({"kind": "lstm", "hidden": [], "lstm": 4, "bias": True}, Bits(8, 8), None),
    ({"kind": "mlp", "hidden": [], "bias": True}, Bits(), {"kind": "multiplier", "low": 0.5, "high": 3.0}),
]


@pytest.mark.slow_except("clang-lstm", "gcc-*")
@pytest.mark.parametrize("name", ["mlp", "lstm", "choice"])
@pytest.mark.parametrize("compiler", list(host_compilers()))
def test_the_c_is_the_program_on_the_host(folders, name, compiler):
    report = run_on_host(folders[name], compiler=compiler)
    assert report.passed, report


@pytest.mark.slow_except("choice")
@pytest.mark.parametrize("name", ["mlp", "lstm", "choice"])
def test_the_c_is_the_program_on_the_core(folders, name):
    report = emulate(folders[name], profile="ibex-small")
    assert report.passed, report  # its loops are no fault
    assert report.cycles is not None
    assert report.stack_bytes_measured < 512


@pytest.mark.slow
@pytest.mark.parametrize(("architecture", "bits", "action"), WIDE)
def test_other_shapes_and_widths_are_the_program_too(tmp_path, architecture, bits, action):
    teacher = drawn(architecture, **({"action": action} if action else {}))
    emit_network(teacher.quantised(bits=bits), "cd" * 32, tmp_path / "firmware", emission())
    for compiler in host_compilers():
        report = run_on_host(tmp_path / "firmware", compiler=compiler)
        assert report.passed, report
    for profile in ("ibex-small", "ibex-maxperf"):
        assert emulate(tmp_path / "firmware", profile=profile).mismatches == 0


MUTANTS = {
    "rounding off by one": (r"\(int32_t\)high - \(int32_t\)half", "(int32_t)high - (int32_t)half + 1"),
    "half a step lost": (r"(fc0_bias\[row\])", r"\1 - 1000"),
    "one weight": (r"(fc0_weights\[\d+\]\[\d+\] = \{\s+\{-?\d+)", r"\1 + 1"),
    "one bias of the output": (r"(output_bias\[1\] = \{\s+-?\d+)", r"\1 + 900"),
    "a scale": (r"(output_scale\[1\] = \{\s+\d+U)", r"\1 + 65536U"),
    "no ReLU": (r"(fc0_scale\[row\]\)), 0, ", r"\1, -32768, "),
    "action half a step up": (r"128U\) >> 8U", "129U) >> 8U"),
    "an action one entry on": (r"raised >> 8U", "(raised + 1U) >> 8U"),
    "inputs swapped": (r"inputs\[(\d)\]\s*= \{(\S+), (\S+?)([,}])", r"inputs[\1] = {\3, \2\4"),
    "a root's last bit": (r"(more_\d+ = half_\d+ \+ )1U", r"\g<1>0U"),
    "saturated too early": (r"(?<=, )32767\)(?=;\n    \}\n\})", "255)"),
}
LSTM_MUTANTS = {
    "gates swapped": (r"row \+ 3U\]\);", "row + 9U]);"),
    "tanh for sigmoid": (r"o = rlcc_sigmoid", "o = rlcc_tanh"),
    "a cell's wrong shift": (r"\+ 16384, 15U", "+ 16384, 14U"),
    "a cell's half step": (r"kept \+ added \+ 16384", "kept + added + 16383"),
    "hidden rounded down": (r"spread\) \+ \d+, ", "spread), "),
    "hidden not clamped": (r"rlcc_clamped\(h, -127, 127\)", "h"),
    "sigmoid too large": (r"rlcc_tanh\(z\) \+ 32768", "rlcc_tanh(z) + 32770"),
    "tanh between its entries": (r"\+ 64U\) >> 7U", ") >> 7U"),
    "one entry of tanh": (r"(tanh_q15\[257\] = \{\s+0, 1024, )2045", r"\g<1>2046"),
    "state not written": (r"cell\[row\] = \(int16_t\)c;", "(void)c;"),
    "old state forgotten": (r"int32_t known = 0;", "int32_t known = 1;"),
    "one recurrent weight": (r"(recurrent_weights\[\d+\]\[\d+\] = \{\s+\{-?\d+)", r"\1 + 1"),
}
CHOICE_MUTANTS = {
    **{name: MUTANTS[name] for name in ("rounding off by one", "half a step lost", "no ReLU")},
    "the last of all, not the greatest": (r"worth > most", "worth != most"),
    "the least": (r"worth > most", "worth < most"),
    "a row of the group before": (r"row - begin", "row"),
    "a group too short": (r"end = first\[group \+ 1U\]", "end = first[group + 1U] - 1U"),
    "one bias of the output": (r"(output_bias\[6\] = \{\s+-?\d+)", r"\1 + 90000"),
    "a scale": (r"(output_scale\[6\] = \{\s+\d+U)", r"\1 / 2U"),
    "another group's place": (r"chosen\[1\];", "chosen[0];"),
}


@pytest.mark.parametrize(
    ("name", "mutant"),
    [("mlp", m) for m in MUTANTS]
    + [("lstm", m) for m in {**MUTANTS, **LSTM_MUTANTS}]
    + [("choice", m) for m in CHOICE_MUTANTS],
)
def test_no_error_in_the_c_goes_unseen(folders, name, mutant, tmp_path_factory, host_compiler, run):
    pattern, replacement = (CHOICE_MUTANTS if name == "choice" else {**MUTANTS, **LSTM_MUTANTS})[mutant]
    text = (folders[name] / "rlcc_policy.c").read_text()
    changed, count = re.subn(pattern, replacement, text, count=1)
    assert count == 1, f"nothing to change for {mutant!r}"
    place = tmp_path_factory.getbasetemp() / f"selftest-{name}"
    place.mkdir(exist_ok=True)
    vectors, source, binary = place / "selftest.o", place / "mutant.c", place / "mutant"
    include = f"-I{folders[name]}"
    if not vectors.exists():
        built = run(*host_compiler, "-O0", "-c", folders[name] / "rlcc_selftest.c", "-o", vectors)
        assert built.returncode == 0, built.stderr
    source.write_text(changed)
    built = run(*host_compiler, "-O0", "-fwrapv", include, source, vectors, "-o", binary)
    assert built.returncode == 0, built.stderr
    assert run(binary).returncode == 1, mutant


def test_the_folder_is_whole_read_back_and_the_same_each_time(folders, tmp_path):
    teacher = drawn(LSTM)
    details = emit_network(teacher.quantised(), "cd" * 32, tmp_path / "again", emission())
    assert {p.name for p in (tmp_path / "again").iterdir()} == FILES | {"manifest.json"}
    for file in (tmp_path / "again").iterdir():
        assert file.read_bytes() == (folders["lstm"] / file.name).read_bytes(), file.name
    firmware = read_firmware(tmp_path / "again")
    policy = load_pupil(tmp_path / "again")
    assert policy.program() == program_from_json(load_json(tmp_path / "again" / "program.json"))
    assert firmware.context_bytes == details["context_bytes"] == 16  # rate, action, 3 cells, 3 hidden values
    assert details["form"]["form"] == "lstm-int8"
    text = (tmp_path / "again" / "rlcc_policy.c").read_text()
    assert not re.search(r"\b(float|double|malloc|memcpy)\b| / | % ", re.sub(r"/\*.*?\*/|//.*", "", text, flags=re.S))
    header = (tmp_path / "again" / "rlcc_policy.h").read_text()
    assert "int8_t hidden[3];" in header
    assert "int16_t cell[3];" in header


@pytest.mark.slow_except("None-all")
@pytest.mark.parametrize("target", ["generic", "all"])
@pytest.mark.parametrize("context_bytes", [None, 48])
def test_a_network_s_folder_as_emitted_has_no_differences(tmp_path, target, context_bytes):
    teacher = drawn(LSTM)
    asked = emission(target=target, context_bytes=context_bytes)
    emit_network(teacher.quantised(), "cd" * 32, tmp_path / "firmware", asked)
    assert differences(tmp_path / "firmware") == []


SEALED_ANEW = {
    "rlcc_policy.c": lambda c: c.replace("rate_q20;\n", "rate_q20 ^ 1U;\n"),
    "network.json": lambda n: n.replace('"rmse": ', '"rmse": 1'),
    "vectors.csv": lambda v: v.replace("network:walk", "network:other", 1),
}


@pytest.mark.parametrize("file", list(SEALED_ANEW))
def test_what_was_changed_in_a_network_s_folder_is_named(folders, tmp_path, file):
    found = differences(tampered(folders["mlp"], tmp_path / "firmware", file, SEALED_ANEW[file]))
    assert file in found or (file == "network.json" and "rlcc_policy.h" in found)


HOSTILE = {
    "activation_bits": '"16 */ int evil; /*"',
    "rmse": '"x"',
    "decisions": "1.5",
}


@pytest.mark.parametrize("key", list(HOSTILE))
def test_a_report_that_would_write_c_is_refused(folders, tmp_path, key):
    """The header tells it in a comment."""
    bad = tampered(
        folders["mlp"],
        tmp_path / "firmware",
        "network.json",
        lambda n: re.sub(f'"{key}": [^,\\n]*', f'"{key}": {HOSTILE[key]}', n),
    )
    with pytest.raises(InputError, match=r"report .*not readable"):
        differences(bad)


def tampered(folder, place, file, change):
    """A copy with one file changed, sealed anew."""
    known = opened(folder, "firmware")
    with writing(place, "firmware", parents=known.parents, seed=known.seed, details=dict(known.details)) as work:
        for name in known.files:
            text = (folder / name).read_text()
            (work / name).write_text(change(text) if name == file else text)
            assert name != file or change(text) != text
    return place


def test_vectors_reach_both_sides_of_whatever_the_network_does(folders):
    firmware = read_firmware(folders["lstm"])
    program = load_pupil(folders["lstm"]).program()
    network = program.network
    columns = {f"context.{k}": v for k, v in vectors_of(firmware).columns()[2].items()}
    for k in range(3):
        assert {-128, 127} <= set(columns[f"context.hidden_{k}"].tolist())
        assert {-32768, 32767} <= set(columns[f"context.cell_{k}"].tolist())
    values = trace(program, *vectors_of(firmware).columns())
    seen = cases(network, np.stack([values[a] for a in inputs_of(program)], axis=1))
    gates = seen[:, network.layers[0].matrix.shape[0] :][:, : 4 * network.units]
    both = [{-1, 1} <= set(np.sign(column).tolist()) for column in gates.T]
    assert sum(both) >= 0.7 * len(both)  # some gates know one side only
    kinds = {kind.split(" ")[0] for kind in vectors_of(firmware).kinds}
    assert {"network:walk", "network:case", "network:cells", "random", "random:any"} <= kinds


def test_in_the_network_the_c_decides_as_the_program(folders):
    """Many flows, decision by decision: the context the simulator keeps is the program's."""
    policy = load_pupil(folders["lstm"])
    program, params = policy.program(), policy.params()
    with shared_library(read_firmware(folders["lstm"])) as library:
        result = simulate(
            "many-to-one:8",
            compiled(library, Installed(params)),
            seed=3,
            duration_ps=2 * 10**9,
            window_ps=(0, 2 * 10**9),
            record=True,
        )
    runs = Trajectories.of(result.records)
    columns = runs.columns
    assert len(runs) > 100
    state = {s.name: np.zeros(1, dtype=np.int64) for s in program.state}
    for row in range(len(runs)):
        if runs.position[row] == 0:
            state = {name: np.zeros(1, dtype=np.int64) for name in state}
        else:
            assert state["rate_q30"][0] == columns["rate_q30"][row]
        _, state = evaluate(program, {name: int(columns[name][row]) for name in FLOW_RATE.event_names}, params, state)


def test_a_context_too_small_is_one_sentence_and_leaves_nothing(tmp_path):
    large = drawn({"kind": "lstm", "hidden": [4], "lstm": 16, "bias": True})
    policy = large.quantised()
    with pytest.raises(InputError, match=r"32 .*LSTM .*drawn: 60 bytes, 4"):
        emit_network(policy, "cd" * 32, tmp_path / "out", emission(target="doca-pcc"))
    with pytest.raises(InputError, match=r"50 .*--context-bytes"):
        emit_network(policy, "cd" * 32, tmp_path / "out", emission(context_bytes=50))
    with pytest.raises(InputError, match=r"linux-bpf .*trees only"):
        emit_network(policy, "cd" * 32, tmp_path / "out", emission(target="linux-bpf"))
    assert not list(tmp_path.iterdir())
    details = emit_network(policy, "cd" * 32, tmp_path / "out", emission(target="all"))
    assert set(details["left_out"]) == {"doca-pcc", "linux-bpf"}
    assert (tmp_path / "out" / "connectx6dx" / "rlcc_rl_algo.c").is_file()


@pytest.mark.slow_except("doca-pcc")
@pytest.mark.parametrize("target", [name for name in TARGETS if name != "linux-bpf"])
def test_adapters_compile_around_a_network(tmp_path, target, host_compiler, run):
    teacher = drawn(LSTM, features=[CONGESTION, {"kind": "previous_action"}])
    emit_network(teacher.quantised(), "cd" * 32, tmp_path / "out", emission(target=target))
    sources = [p for p in (tmp_path / "out").glob("*.c") if p.name != "rlcc_selftest.c"]
    flags = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror", "-fsyntax-only")
    done = run(*host_compiler, *flags, *sources)
    assert done.returncode == 0, done.stderr


def test_a_migration_names_the_arrays_of_an_lstm(folders, tmp_path):
    new = read_firmware(folders["lstm"]).program
    old = drawn(LSTM, seed=2).quantised().program()
    (tmp_path / "rlcc_migrate.h").write_text(migration(old, new, ("old", "new"), "rlcc"))
    (tmp_path / "main.c").write_text('#include "rlcc_migrate.h"\nint main(void) { return 0; }\n')
    flags = ["-std=c99", "-Wall", "-Werror", "-fsyntax-only", f"-I{folders['lstm']}", "main.c"]
    done = subprocess.run(["cc", *flags], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "after->hidden[2] = 0;" in (tmp_path / "rlcc_migrate.h").read_text()

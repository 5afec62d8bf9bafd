"""policy.toml: a good one reads, a bad one is refused in one sentence that names the file and the key."""

import re
from pathlib import Path

import pytest

import decision.policy.policy
from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.policy.policy import load_policy

EXAMPLE = Path(__file__).parent / "policy.toml"
GOOD = EXAMPLE.read_text()


def read(tmp_path, text):
    path = tmp_path / "policy.toml"
    path.write_text(text)
    return load_policy(path).policy


def test_the_example_reads():
    policy = load_policy(EXAMPLE).policy
    assert policy.observation.base_rtt == 8192
    assert policy.observation.line_rate == 10**11
    assert policy.observation.size == 4
    assert policy.params() == {
        "base_rtt_recip_q42": 2**29,
        "rate_min_q30": 1074,
        "rate_max_q30": 2**30 - 1,
        "rate_initial_q30": 2**30 - 1,
    }
    assert tuple(policy.params()) == FLOW_RATE.param_names


def test_the_example_is_the_one_in_the_modules_docstring_and_in_the_documentation():
    """So that neither shows a reader something that does not read."""

    def settings(text):
        lines = [re.sub(r"\s*#.*$", "", line).rstrip() for line in text.splitlines()]
        return [line for line in lines if line and not line.startswith(("policy.toml", "command"))]

    assert settings(decision.policy.policy.__doc__.split("\n", 2)[2]) == settings(GOOD)
    page = (Path(__file__).parents[3] / "docs" / "reference" / "policy-toml.md").read_text()
    assert settings(page.split("```toml\n")[1].split("```")[0]) == settings(GOOD)


CASES = {
    "no activation": ('activation = "relu"', "#", "architecture.activation is missing"),
    "unknown activation": ('activation = "relu"', 'activation = "mish"', "architecture.activation"),
    "an activation too many": ('activation = "relu"', 'activation = ["relu", "tanh"]', "2 activations for 1 hidden"),
    "an end that is none": ('output = "tanh"', 'output = "relu"', "architecture.output"),
    "no order": ('order = "newest_first"', "#", 'input.order is missing'),
    "an order that is none": ('order = "newest_first"', 'order = "newest"', "input.order"),
    "a column that is none": ('"newest_first"', '"newest_first"\ncolumns = ["rtt"]', "rtt is no feature"),
    "a column twice": ('"newest_first"', f'"newest_first"\ncolumns = {["previous_action"] * 2}', "stands twice"),
    "a column too few": ('"newest_first"', '"newest_first"\ncolumns = ["previous_action"]', "rl_cc_congestion of"),
    "scales too few": ('"newest_first"', '"newest_first"\nscale = [1.0, 2.0, 3.0]', "has 3 numbers; give one, 2"),
    "a scale of zero": ('"newest_first"', '"newest_first"\nscale = [1.0, 0.0]', "input.scale is 0"),
    "an offset that is none": ('"newest_first"', '"newest_first"\noffset = nan', "input.offset"),
    "unknown key": ('bias = false', 'bias = false\nbiass = true', "architecture.biass: no such key"),
    "unknown table": ('[action]', '[reward]\nx = 1\n[action]', "reward: no such key"),
    "unknown feature": ('"rl_cc_congestion"', '"delta"', r"features.1.kind: 'delta' is unknown; choose one of 'prev"),
    "feature without kind": ('kind = "previous_action"', '', "observation.features.0: .*kind"),
    "key of another feature": ('kind = "previous_action"', 'kind = "previous_action"\nbeta = 1.5', "beta: no such key"),
    "unknown action": ('kind = "tanh_map"', 'kind = "tanh"', "action.kind: 'tanh' is unknown; choose one of 'tanh"),
    "missing key": ("window = 2\n", "", "observation.window: is missing"),
    "missing unit": ('base_rtt = "8192 ns"', "base_rtt = 8192", r"observation.base_rtt: 8192 has no unit"),
    "wrong unit": ('"8192 ns"', '"8192 Gb/s"', "observation.base_rtt: .*has the unit 'Gb/s'"),
    "fraction of a ns": ('"8192 ns"', '"8192.5 ns"', "observation.base_rtt: .*whole number of nanoseconds"),
    "base RTT too short": ('"8192 ns"', '"255 ns"', "observation: base_rtt is 255 ns; it must lie between"),
    "base RTT over rtt_max": ('"8192 ns"', '"4.1 ms"', "observation: base_rtt is 4100000 ns"),
    "RTT beyond the firmware's": ('"4 ms"', '"5 ms"', "observation: rtt_max is 5000000 ns; the firmware's RTT holds"),
    "no line rate": ('"100 Gb/s"', '"0 Gb/s"', "observation: line_rate is 0 b/s"),
    "line rate beyond": ('"100 Gb/s"', '"2000 Tb/s"', "observation: line_rate is .* must lie between"),
    "no window": ("window = 2", "window = 0", "observation.window: "),
    "window too long": ("window = 2", "window = 17", "observation.window: "),
    "target 0": ("target = 0.064", "target = 0", "observation.features.1.target: "),
    "target too large": ("target = 0.064", "target = 65.0", "target: "),
    "beta negative": ("beta = 1.5", "beta = -0.5", "beta: "),
    "scale not a number": ("scale = -12.5", "scale = nan", "scale: "),
    "scale infinite": ("scale = -12.5", "scale = inf", "scale: "),
    "step too large": ("step = 0.2", "step = 0.5", "action.step: "),
    "minimum above initial": ('rate_initial = "100 %"', 'rate_initial = "0.5 ppm"', "limits: rate_min <= rate_initial"),
    "initial above maximum": ('rate_max = "100 %"', 'rate_max = "50 %"', "limits: rate_min <= rate_initial"),
    "LSTM without units": ('kind = "mlp"', 'kind = "lstm"', 'architecture: lstm = <units> belongs to kind = "lstm"'),
    "LSTM with window": ('kind = "mlp"', 'kind = "lstm"\nlstm = 12', "observation.window must be 1"),
    "MLP with units": ('kind = "mlp"', 'kind = "mlp"\nlstm = 12', "architecture: lstm = <units> belongs"),
    "empty layer": ("hidden = [12]", "hidden = [0]", "architecture: a hidden layer has 1 to 1024 units"),
    "other format": ("format = 1", "format = 2", "format: "),
    "bad name": ('name = "rl-cc-mlp"', 'name = "x*/"', "name: "),
    "twice": ('kind = "previous_action"', 'kind = "rate"\n[[observation.features]]\nkind = "rate"', "stands twice"),
    "probes without bytes": ("[limits]", "[probes]\nfirst = 2\n[limits]", "probes.after: is missing"),
    "probes in no time": ("[limits]", '[probes]\nafter = "8 KiB"\nlatest = "0 ns"\n[limits]', "latest: .*greater"),
    "probes of no flow": ("[limits]", '[probes]\nafter = "8 KiB"\nfirst = 0\n[limits]', "probes.first: .*greater"),
    "not TOML": ("[action]", "[action", "is not valid TOML"),
    "number of 5000 digits": ("window = 2", "window = 1" + "0" * 5000, "is not valid TOML"),
    "nested beyond reading": ("hidden = [12]", "hidden = " + "[" * 5000 + "]" * 5000, "is not valid TOML|hidden"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_refused_in_one_sentence(name, tmp_path):
    old, new, says = CASES[name]
    assert GOOD.count(old) == 1
    text = GOOD.replace(old, new, 1)
    with pytest.raises(InputError, match=says) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(str(tmp_path / "policy.toml"))
    assert "\n" not in message
    assert len(message) < 500


def test_equal_limits_are_in_order(tmp_path):
    assert read(tmp_path, GOOD.replace("1 ppm", "100 %")).limits.rate_min == 2**30


def test_two_features_that_would_share_a_name_in_the_c_are_refused(tmp_path):
    """Else one of them would silently be read as the other."""
    both = '[[observation.features]]\nkind = "pcc_rl_congestion"\ntarget = 0.064\n[action]'
    with pytest.raises(InputError, match=r"both .*congestion_q20"):
        read(tmp_path, GOOD.replace("[action]", both))
    both = both.replace("0.064", "2")
    assert len(read(tmp_path, GOOD.replace("[action]", both)).observation.features) == 3


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "no file"), (b"\xff\xfe", "is not UTF-8 text")],
)
def test_unreadable_files(content, says, tmp_path):
    path = tmp_path / "policy.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=says):
        load_policy(path)


def test_a_policy_dumps_and_reads_back(tmp_path):
    policy = load_policy(EXAMPLE).policy
    assert type(policy).model_validate(policy.model_dump(mode="json")) == policy
    assert "probes" not in policy.model_dump()
    for more in ("", 'latest = "2 ms"', "first = 9"):
        probing = read(tmp_path, GOOD.replace("[limits]", f'[probes]\nafter = "8 KiB"\n{more}\n[limits]'))
        assert type(policy).model_validate(probing.model_dump(mode="json")) == probing
        assert probing.probes.after == 8192


@pytest.mark.parametrize("window", [0, 17])
def test_with_window_keeps_to_the_limits(window):
    observation = load_policy(EXAMPLE).observation
    with pytest.raises(InputError, match=r"outside 1\.\.16"):
        observation.with_window(window)
    assert observation.with_window(16).size == 32


def test_the_example_of_a_policy_from_elsewhere_reads():
    file = load_policy(Path(__file__).parents[3] / "docs" / "your-own-policy" / "policy.toml")
    assert file.input.order == "oldest_first"
    assert file.architecture.activations == ("tanh", "tanh")

"""Baselines by name and from files: what the presets say, and one sentence for what is wrong."""

import pickle
import tomllib
from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from netsim import _core, baselines

NAMES = ["cubic", "dcqcn", "dcqcn-hpcc", "dcqcn-original", "dctcp", "dctcp-1g", "hpcc", "hpcc-artefact"]
NAMES += ["max-min", "nscc", "swift", "timely"]


def test_names() -> None:
    assert baselines.names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_presets(name: str) -> None:
    spec = baselines.by_name(name)
    assert spec.name == name
    assert spec.needs_int == name.startswith("hpcc")
    assert (spec.cnp_interval_ps is not None) == name.startswith("dcqcn")
    assert (spec.ecn is not None) == name.startswith(("dc", "nscc"))
    built = spec.build(3, 100)
    assert built is None if name == "max-min" else isinstance(built, _core.Baseline)
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert type(spec).model_validate_json(spec.model_dump_json()) == spec


@pytest.mark.parametrize("name", NAMES)
def test_every_value_of_a_preset_has_its_source(name: str) -> None:
    """A comment on the line, or one for the whole file or table."""
    text = (baselines.PARAMETERS / f"{name}.toml").read_text()
    assert text.startswith("# ")
    for table in text.split("\n["):
        assert "#" in table.split("\n", 1)[0], f"{name}: the table {table.split(']')[0]} has no source"


def test_rates_scale_with_the_nic() -> None:
    """HPCC's artefact: AI B/5 and HAI 2B Mb/s, Kmin 4B and Kmax 16B KB at B Gb/s."""
    spec = baselines.by_name("dcqcn-hpcc")
    assert isinstance(spec, baselines.DcqcnSpec)
    for gbps in (25, 100, 400):
        assert spec.additive_step.at(gbps) * gbps * 1000 == pytest.approx(gbps / 5)
        assert spec.hyper_step.at(gbps) * gbps * 1000 == pytest.approx(2 * gbps)
        assert spec.rate_min.at(gbps) * gbps == pytest.approx(1)
        assert spec.ecn is not None
        at = spec.ecn.at(gbps)
        assert (at.kmin, at.kmax, at.pmax, at.marking) == (4000 * gbps, 16000 * gbps, 0.2, "dequeue")
    dctcp = baselines.by_name("dctcp").ecn
    assert dctcp is not None
    assert (dctcp.at(10).kmin, dctcp.at(10).kmax) == (30_000, 30_000)


def changed(tmp_path: Path, name: str, old: str, new: str) -> Path:
    text = (baselines.PARAMETERS / f"{name}.toml").read_text()
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new))
    return path


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = changed(tmp_path, "hpcc", "eta = 0.95", "eta = 0.9")
    spec = baselines.load(path)
    assert isinstance(spec, baselines.HpccSpec)
    assert spec.eta == 0.9
    assert spec.build(1, 100) is not None


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"),
    [
        ("hpcc", "eta = 0.95", "etta = 0.95", "(eta: .*missing|etta: no)"),
        ("hpcc", "eta = 0.95", "eta = 1.5", "eta: .*less than .*1"),
        ("hpcc", "eta = 0.95", "eta = nan", r"eta: "),
        ("hpcc", "eta = 0.95", 'eta = "95 %"', r"eta: .*number"),
        ("hpcc", 'kind = "hpcc"', 'kind = "bbr"', "'bbr' .*'swift'"),
        ("hpcc", 'kind = "hpcc"', "", "kind .*dcqcn, hpcc"),
        ("hpcc", 'name = "hpcc"', 'name = "HPCC!"', r"name: "),
        ("hpcc", "burst_packets = 1 ", "burst_packets = 99 ", r"burst_packets: "),
        ("hpcc", '"400 ppm"', '"400"', "additive_step: '400' .*unit"),
        ("hpcc", '"400 ppm"', '"400 furlongs"', r"additive_step: .* has the unit 'furlongs'"),
        ("hpcc", '"400 ppm"', '"101 %"', "additive_step: '101 %' .*0 .*line rate"),
        ("hpcc", '"400 ppm"', "400", r"additive_step: 400 has no unit"),
        ("dcqcn", '"1 us" ', '"1 ns" ', "alpha_period: .*10 and 1000000000 ns"),
        (
            "dcqcn",
            'r_period = "4 us"',
            'r_period = "9 ms"',
            "monitor_period: .*10 .* ns, .*0",
        ),
        ("dcqcn", '"32767 B"', '"1 B"', r"byte_reset: must lie between 1000"),
        ("dcqcn", "kmin = ", 'kmin = "2 MB"\n# ', "ecn: kmin .*kmax"),
        ("dcqcn", 'cnp_interval = "4 us" ', "", "DCQCN .*CNPs"),
        ("dcqcn", '"dequeue"', '"sometimes"', r"ecn\.marking: "),
        ("dcqcn", 'link = "100 Gb/s"', 'link = "1 Mb/s"', "ecn: link .*between"),
        ("swift", 'acknowledge = "packet"', 'acknowledge = "message"', r"acknowledge: "),
        ("hpcc", 'acknowledge = "packet"', 'acknowledge = "message"', r"acknowledge: "),
        ("swift", "window_min = 0.001", "window_min = 2000", "window_min .*window_max"),
        ("swift", "scaling_window_max = 100", "scaling_window_max = 0.1", r"scaling_window_min must be less"),
        ("timely", '"500 us"', '"5 us"', "low .*more .*high"),
        ("nscc", 'acknowledge = "packet"', 'acknowledge = "message"', r"acknowledge: "),
        ("nscc", "quick_share = 0.125", "quick_share = 1", r"quick_share: .*less than 1"),
        ("nscc", '"150 KB"', '"0 B"', r"reference_bdp: must lie between 1"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, name: str, old: str, new: str, sentence: str) -> None:
    path = changed(tmp_path, name, old, new)
    with pytest.raises(InputError, match=sentence) as error:
        baselines.load(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["dctcp", "nscc"])
def test_who_hears_of_marks_needs_them(tmp_path: Path, name: str) -> None:
    text = (baselines.PARAMETERS / f"{name}.toml").read_text()
    (tmp_path / "x.toml").write_text(text.split("[ecn]")[0])
    with pytest.raises(InputError, match=f"{name.upper()} .*ECN marks"):
        baselines.load(tmp_path / "x.toml")


def test_unknown_name() -> None:
    with pytest.raises(InputError, match=r"'bbr'; .*dcqcn, .*, timely"):
        baselines.by_name("bbr")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        baselines.load(tmp_path / "none.toml")


def test_a_floor_above_the_nic(tmp_path: Path) -> None:
    spec = baselines.load(changed(tmp_path, "hpcc", '"1 Mb/s"', '"200 Gb/s"'))
    with pytest.raises(InputError, match=r"rate_min 200 Gb/s .*100 Gb/s"):
        spec.build(1, 100)


def test_presets_are_plain_toml() -> None:
    for name in NAMES:
        assert tomllib.loads((baselines.PARAMETERS / f"{name}.toml").read_text())["name"] == name

"""HAECN's second page says what its runs said."""

import numpy as np

from papers.acc import setting
from papers.haecn import FORMS, NETWORK, Outcomes, Ports, _int8_table
from papers.haecn_readings import BASELINES, HOSTS, SIZES, SYSTEMS, page, picture, to_all
from papers.int8_cost import Int8


def test_every_fourth_host_sends_to_the_servers_of_leaf_1_in_turn() -> None:
    scenario = to_all(12, 5_000_000).scenario
    host, receiver, packets = (scenario.column(name) for name in ("host", "receiver", "packets"))
    assert len(host) == 11 * 12 // 4
    assert set((host % 4).tolist()) == {3}
    assert host.min() >= 12
    assert np.bincount(receiver).tolist() == [3] * 9 + [2] * 3
    assert (packets[0] - 1) * NETWORK.payload_bytes < 5_000_000 <= packets[0] * NETWORK.payload_bytes


def test_the_page_sets_haecn_beside_each_and_says_where_the_gain_is() -> None:
    ports = {
        f"{name}, {form}": Ports(setting(20_000, 20_000, 1), 10**6, None)
        for name in SYSTEMS[len(BASELINES) :]
        for form in FORMS
    }
    fct = {"DCQCN": 100.0, "TIMELY": 100.0, "HPCC": 80.0, **{f"ACC, {form}": 80.0 for form in FORMS}}
    fct |= {"HAECN, float32": 80.0, "HAECN, int8": 84.0, "HAECN, trees": 82.0}
    names = [f"to all, {hosts}, {size // 1000} KB" for size in SIZES for hosts in HOSTS]
    names += [f"bursty, {hosts}" for hosts in HOSTS]
    metrics = {
        (place, who): [{"fct_mean_us": fct[who] * seed, "fct_p99_us": fct[who]} for seed in (1, 2)]
        for place in names
        for who in (*BASELINES, *ports)
    }
    t = np.arange(1.0, 5.0)
    shown = {12: {who: (t, np.full(4, fct[who] / 200)) for who in (*BASELINES, *ports)}}
    text = page(Outcomes(2, names, ports, metrics), shown)
    rows = {line.split("|")[1].strip(): line.split("|")[2:] for line in text.splitlines() if line.startswith("| 36")}
    assert [cell.strip() for cell in rows["36 hosts, DCQCN"][:4]] == [
        "-30",
        "-20.0 (-20.0 to -20.0)",
        "-16.0 (-16.0 to -16.0)",
        "-18.0 (-18.0 to -18.0)",
    ]
    assert "TIMELY -20.0 to -16.0 % (paper -24 and -28: as the paper has it)" in text
    assert "ACC +0.0 to +5.0 % (paper -16 and -21: not there)" in text
    assert "| DCQCN | 0.500 |" in text
    assert "against DCQCN -16.0% (paper up to +47); TIMELY -16.0% (paper up to +34); HPCC +5.0%" in text
    assert "ACC +5.0% (paper up to +24)." in text
    assert picture(shown).startswith(b"<?xml")


def test_what_the_networks_take_in_int8_has_their_bytes() -> None:
    one = Int8(100, 1_000.0, 1_001, 330.0, 2_000)
    *_, row = _int8_table(Outcomes(2, [], {}, {}, {"ACC": [one]}))
    assert row == "| ACC, asked every time | 100 | 2,000 | 1000 | 1001 | 10.0 | 145 |"

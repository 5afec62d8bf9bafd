"""What a task names by a path is there on another machine, and gone after the task."""

from pathlib import Path

from netsim.parcel import Packing, unpacked


def test_a_path_leads_to_the_same_bytes_elsewhere_and_nothing_stays(tmp_path: Path) -> None:
    library, folder, nothing = tmp_path / "policy.so", tmp_path / "firmware", tmp_path / "nothing"
    library.write_bytes(b"\x7fELF")
    (folder / "c").mkdir(parents=True)
    (folder / "c" / "policy.c").write_text("int x;")
    packing = Packing()
    packed = packing.packed({"library": library, "again": [library, folder], "nothing": nothing})
    assert len(packed.files) == 2
    library.write_bytes(b"changed since")
    with unpacked(packed) as value:
        assert value["library"].name == "policy.so"
        assert value["library"].read_bytes() == b"\x7fELF"
        assert value["again"][0] == value["library"] != library
        assert (value["again"][1] / "c" / "policy.c").read_text() == "int x;"
        assert value["nothing"] == nothing
    assert not value["library"].parent.exists()
    with unpacked(packing.packed([library])) as (again,):
        assert (again, again.read_bytes()) == (value["library"], b"\x7fELF"), "as it was first read"
    assert not again.parents[1].exists()


def test_the_same_content_is_sent_once(tmp_path: Path) -> None:
    one, other = tmp_path / "a" / "policy.so", tmp_path / "b" / "policy.so"
    for file in (one, other):
        file.parent.mkdir()
        file.write_bytes(b"same")
    assert len(Packing().packed([one, other]).files) == 1

"""docs/contributing/architecture.svg shows the imports that there are."""

from pathlib import Path

import pytest

from bench import house


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    return house.arrows()


def test_the_picture_is_of_the_imports_there_are(imports: dict[str, set[str]]) -> None:
    assert house.PICTURE.read_text() == house.draw(imports), "draw it anew: python -m bench.house"


def test_every_package_stands_in_it() -> None:
    packages = {path.parent.name for path in house.ROOT.glob("*/__init__.py")} - {"tests", "bench"}
    assert packages == house.HOLDS.keys()


def test_another_import_is_another_picture(imports: dict[str, set[str]]) -> None:
    more = {**imports, "verify": imports["verify"] | {"codegen"}}
    assert house.draw(more) != house.draw(imports)


def test_an_import_in_a_function_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in house.HOLDS:
        (tmp_path / name).mkdir()
    (tmp_path / "verify/late.py").write_text(
        "def late() -> None:\n    from codegen import emit\n    import decision.rate\n"
    )
    assert house.arrows(tmp_path)["verify"] == {"codegen", "decision"}

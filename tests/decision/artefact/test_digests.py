"""Facts about files: found once for a content, whatever the place; a damaged or missing cache costs time only."""

from pathlib import Path

import pytest

from decision.artefact.digests import Digests, Facts


class Finder:
    def __init__(self) -> None:
        self.found: list[Path] = []

    def __call__(self, path: Path, content: bytes) -> Facts:
        self.found.append(path)
        return [content.decode()[::-1], path.suffix]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "find.py").write_text("x")
    return tmp_path / "cache/rlcc/sources"


def process(tmp_path: Path) -> tuple[Digests, Finder]:
    """As a process begins: nothing in memory."""
    find = Finder()
    return Digests(find, tmp_path / "find.py"), find


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_later_process_takes_what_was_found_and_finds_what_changed(tmp_path: Path) -> None:
    a, b = written(tmp_path / "a.py", "one"), written(tmp_path / "b.py", "two")
    first, _ = process(tmp_path)
    assert (first.of(a), first.of(b)) == (["eno", ".py"], ["owt", ".py"])
    first.save()
    later, find = process(tmp_path)
    assert (later.of(a), find.found) == (["eno", ".py"], [])
    assert (later.of(written(a, "three")), find.found) == (["eerht", ".py"], [a])


def test_a_suffix_and_an_init_file_count(tmp_path: Path) -> None:
    digests, find = process(tmp_path)
    files = [written(tmp_path / name, "same") for name in ("a.py", "__init__.py", "a.c", "b/a.py")]
    assert [digests.of(path)[1] for path in files] == [".py", ".py", ".c", ".py"]
    assert find.found == files[:3]


def test_other_code_that_finds_starts_anew(tmp_path: Path) -> None:
    a = written(tmp_path / "a.py", "one")
    first, _ = process(tmp_path)
    first.of(a)
    first.save()
    written(tmp_path / "other.py", "y")
    find = Finder()
    assert Digests(find, tmp_path / "other.py").of(a) == ["eno", ".py"]
    assert find.found == [a]


@pytest.mark.parametrize("damage", ["", "[]", '{"a": []}', '{"a": [1]}', '{"a": "x"}', "\xff"])
def test_a_damaged_cache_is_found_anew(tmp_path: Path, cache: Path, damage: str) -> None:
    a = written(tmp_path / "a.py", "one")
    first, _ = process(tmp_path)
    first.of(a)
    first.save()
    (file,) = cache.iterdir()
    file.write_text(damage, encoding="latin-1")
    later, find = process(tmp_path)
    assert (later.of(a), find.found) == (["eno", ".py"], [a])


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, cache: Path) -> None:
    written(cache.parent, "a file where a folder belongs")
    digests, _ = process(tmp_path)
    assert digests.of(written(tmp_path / "a.py", "one")) == ["eno", ".py"]
    digests.save()

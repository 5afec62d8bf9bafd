"""What the system refuses: one sentence with the cause."""

import errno
import os
from pathlib import Path

import pytest

from decision.artefact.documents import write_atomically
from decision.artefact.errors import InputError
from decision.artefact.manifest import writing
from decision.artefact.system_errors import MENDS, cause, check_room, told


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(errno.ENOSPC, "x", "/a/b"), "/a/b: no space left on device; free room there, or choose another place"),
        (OSError(errno.EROFS, "x", "/a/b"), "/a/b: read-only file system; choose another place"),
        (OSError(errno.EFBIG, "x"), "a file that the system does not name: file too large; raise the limit"),
        (OSError(errno.EMFILE, "x"), "too many open files; raise the limit of open files (`ulimit -n`)"),
        (MemoryError(), "there is not enough memory; give it more"),
        (RuntimeError("can't start new thread"), "no further thread can be started; raise the limit of processes"),
        (ValueError("I/O error: No space left on device (os error 28)"), "28): free room there, or choose another"),
    ],
)
def test_a_refusal_is_told_with_its_cause_and_how_to_mend_it(error: BaseException, says: str) -> None:
    assert says in str(told(error))


@pytest.mark.parametrize("error", [KeyError("x"), OSError(errno.ENOENT, "x"), OSError("x"), ValueError("a file")])
def test_what_is_no_refusal_stays_a_defect(error: BaseException) -> None:
    assert told(error) is None


def test_other_tools_words() -> None:
    assert cause('error: unable to open global cache directory "/x": ReadOnlyFileSystem') == errno.EROFS
    assert cause("LLVM ERROR: IO failure on output stream: No space left on device") == errno.ENOSPC
    assert cause("error: expected ';'") is None
    assert all(os.strerror(code) for code in MENDS)


def test_an_artefact_that_has_no_room_is_told_by_its_own_name_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int, mode: str) -> None:
        os.close(handle)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fdopen", full)
    with pytest.raises(OSError, match="No space") as caught:
        write_atomically(tmp_path / "a.json", "x")
    assert str(told(caught.value)).startswith(f"{tmp_path / 'a.json'}: no space left on device")
    with pytest.raises(OSError, match="No space") as caught, writing(tmp_path / "out", "thing"):
        pass
    assert str(told(caught.value)).startswith(f"{tmp_path / 'out'}: no space left on device")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_takes_nothing_is_named(tmp_path: Path) -> None:
    check_room(tmp_path)
    with pytest.raises(InputError, match=r"gone: no .*file"):
        check_room(tmp_path, tmp_path / "gone")

"""What the system refuses: one sentence with the cause."""

import errno
import os
from pathlib import Path

import pytest
from wording import Wording

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically, writing
from decision.artefact.system_errors import MENDS, cause, check_room, refusal


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "x", "/a/b"),
        OSError(errno.EROFS, "x", "/a/b"),
        OSError(errno.EFBIG, "x"),
        OSError(errno.EMFILE, "x"),
        MemoryError(),
        RuntimeError("can't start new thread"),
        ValueError("I/O error: No space left on device (os error 28)"),
    ],
)
def test_a_refusal_is_told_with_its_cause_and_how_to_mend_it(error: BaseException, wording: Wording) -> None:
    wording(refusal(error))


@pytest.mark.parametrize("error", [KeyError("x"), OSError(errno.ENOENT, "x"), OSError("x"), ValueError("a file")])
def test_what_is_no_refusal_stays_a_defect(error: BaseException) -> None:
    assert refusal(error) is None


def test_other_tools_words() -> None:
    assert cause('error: unable to open global cache directory "/x": ReadOnlyFileSystem') == errno.EROFS
    assert cause("LLVM ERROR: IO failure on output stream: No space left on device") == errno.ENOSPC
    assert cause("error: expected ';'") is None
    assert all(os.strerror(code) for code in MENDS)


def test_an_artefact_that_has_no_room_is_told_by_its_own_name_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wording: Wording
) -> None:
    def full(handle: int, mode: str) -> None:
        os.close(handle)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fdopen", full)
    with pytest.raises(OSError, match="No space") as caught:
        write_atomically(tmp_path / "a.json", "x")
    wording(refusal(caught.value))
    with pytest.raises(OSError, match="No space") as caught, writing(tmp_path / "out", "thing"):
        pass
    wording(refusal(caught.value))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_takes_nothing_is_named(tmp_path: Path) -> None:
    check_room(tmp_path)
    with pytest.raises(InputError, match=r"gone: no .*file"):
        check_room(tmp_path, tmp_path / "gone")

"""A tool that failed, told from one that the system kept from its work: a full disk is no error of the C."""

import errno
import resource
import signal

from decision.artefact import temporary
from decision.artefact.cache import cache_folder, check_writable
from decision.artefact.errors import InputError
from decision.artefact.system_errors import cause, check_room, sentence

MIN_FILES = 64
"""With fewer a compiler fails in words that tell of something else."""


def check_tool(said: str, returncode: int) -> None:
    """InputError where it was the system: what the tool said tells so, or how it ended, or nothing can be written where
    it keeps its files."""
    if (most := resource.getrlimit(resource.RLIMIT_NOFILE)[0]) < MIN_FILES:
        raise InputError(sentence(errno.EMFILE, f"{most} files, which are all that this process may open"))
    code = errno.EFBIG if returncode == -signal.SIGXFSZ else cause(said)
    if code is not None:
        raise InputError(sentence(code, f"files in {temporary.place()} or {cache_folder()}"))
    check_writable()
    check_room(temporary.place())


def ended(returncode: int) -> str:
    """How a program ended that says nothing."""
    if returncode == -signal.SIGKILL:
        return "killed from outside; is there memory enough?"
    return f"ended by {signal.Signals(-returncode).name}" if returncode < 0 else f"exit code {returncode}"

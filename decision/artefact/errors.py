"""The one error a user may see: bad input, told in one sentence."""

LONGEST = 1000


class InputError(Exception):
    """Bad input. The message is one sentence: what is wrong, where, and how to mend it.

    The command line prints it and exits with 2; nothing half-written is left behind. Text from a file stays in one line
    of printable characters: a CI job's log is read by programs, too.
    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


def one_line(message: str) -> str:
    """Printable characters alone, not too many: what a file made it quote is cut in the middle, what to do stays."""
    if len(message) > LONGEST:
        message = f"{message[: LONGEST // 2]} ... {message[5 - LONGEST // 2 :]}"
    return "".join(c if c.isprintable() else " " for c in message)

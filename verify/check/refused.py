"""The one way in which the checker says no."""

from decision.artefact.errors import one_line


class Refused(Exception):
    """The certificate does not hold, or this checker cannot see that it does. The message says where and why."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))  # it may quote the certificate

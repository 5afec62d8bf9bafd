"""The one way in which the checker says no."""

from decision.artefact.errors import one_line


class Refused(Exception):
    """The certificate does not hold, or this checker cannot see that it does. The message says where and why.

    ``unmet``: numbers of the cuts that no path comes to, where these are the reason. ``unfinished``: a check that goes
    further may see that it holds."""

    def __init__(self, message: str, unmet: tuple[int, ...] = (), unfinished: bool = False) -> None:
        super().__init__(one_line(message))  # it may quote the certificate
        self.unmet, self.unfinished = unmet, unfinished

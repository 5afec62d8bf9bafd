"""The one way in which the checker says no."""

from decision.artefact.errors import one_line


class Refused(Exception):
    """The certificate does not hold, or this checker cannot see that it does. The message says where and why.

    ``unmet``: numbers of the cuts that no path comes to, where these are the reason."""

    def __init__(self, message: str, unmet: tuple[int, ...] = ()) -> None:
        super().__init__(one_line(message))  # it may quote the certificate
        self.unmet = unmet

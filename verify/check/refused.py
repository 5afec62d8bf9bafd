"""The one way in which the checker says no."""

from decision.artefact.errors import one_line


class Refused(Exception):
    """The certificate does not hold, or this checker cannot see that it does. The message says where and why.

    ``unmet``: numbers of the cuts that no path comes to, where these are the reason. ``unfinished``: a check that goes
    further may see that it holds. ``bound``: cycles that were seen to be enough for every input, where all that could
    not be seen is that fewer are."""

    def __init__(
        self, message: str, unmet: tuple[int, ...] = (), unfinished: bool = False, bound: int | None = None
    ) -> None:
        super().__init__(one_line(message))  # it may quote the certificate
        self.unmet, self.unfinished, self.bound = unmet, unfinished, bound

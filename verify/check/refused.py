"""The one way in which the checker says no."""


class Refused(Exception):
    """The certificate does not hold, or this checker cannot see that it does. The message says where and why."""

"""The one error a user may see: bad input, told in one sentence."""


class InputError(Exception):
    """Bad input. The message is one sentence: what is wrong, where, and how to mend it.

    The command line prints it and exits with 2; nothing half-written is left behind.
    """

"""CPU time of processes."""

import resource


def children_s() -> float:
    """Of those that this process has waited for, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

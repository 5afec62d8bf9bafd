"""CPU time of processes."""

import resource


def children_s() -> float:
    """Returns the CPU time of the children that this process has waited for, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

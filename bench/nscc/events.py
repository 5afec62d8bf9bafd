"""Events of a flow for the comparison: spells of an empty, a filling and a full network, with marks and losses."""

from collections.abc import Iterator
from random import Random

from bench.nscc.exact import Numbers, WindowEvent

SPELLS = (0.0, 0.0, 0.5, 1.2, 4.0, 12.0)
"""Queueing delays that spells aim at, in targets."""


def trajectory(seed: int, numbers: Numbers, count: int, start: int = 10_000) -> Iterator[WindowEvent]:
    """Yields ``count`` events, the clock from ``start`` ns on: acknowledgements of one to eight packets, one loss in a
    hundred, one RTT in fifty not timed."""
    random = Random(seed)
    now, wait, spell, left = start, 0.0, 0.0, 0
    for _ in range(count):
        if left == 0:
            spell, left = random.choice(SPELLS) * numbers.target, random.randint(20, 400)
        left -= 1
        full = spell > 2 * numbers.target
        now += random.randint(1, max(numbers.base_rtt // (1 if full else 20), 2))
        if random.random() < 0.005:
            now += random.randint(1, 4) * numbers.base_rtt
        wait = 0.95 * wait + 0.05 * spell
        delay = max(0, int(wait + random.gauss(0, 0.1) * wait))
        flight = random.randint(0, numbers.window_max)
        if random.random() < 0.01:
            lost = [0, 0, 0, 0]
            lost[random.randrange(4)] = numbers.mtu * random.choice([1, 1, 4])
            yield WindowEvent(now % 2**32, lost=tuple(lost), in_flight=flight)
            continue
        acked = numbers.mtu * random.choice([1, 1, 1, 2, 2 if full else 8])
        marked = acked if random.random() < (0.7 if delay > numbers.target / 2 else 0.02) else 0
        rtt = 0 if random.random() < 0.02 else numbers.base_rtt + delay
        yield WindowEvent(now % 2**32, rtt, acked, marked, in_flight=flight)

"""NSCC in double precision: the rules of bench/nscc/exact.py in bytes and ns, without its floors and caps.

Its parameters are the firmware's integers, so that their rounding is no part of a difference.

Operations: +, -, *, / and comparisons of IEEE doubles in the order in which they stand, one rounding each.
"""

from dataclasses import dataclass, field

from bench.nscc.exact import Numbers, WindowEvent

GAIN, GAMMA, LARGEST_CUT, FAST_DELAY, DRAINED = 0.0125, 0.8, 0.5, 1000.0, 0.25


@dataclass
class FloatFlow:
    """State of a flow between events; ``new`` until its first one."""

    window: float = 0.0
    mean: float = 0.0
    ignored: float = 0.0
    looked: int = 0
    arrived: float = 0.0
    lost: bool = False
    undelayed: float = 0.0
    fast: bool = False
    pending: float = 0.0
    decreased: int = 0
    adjusted: int = 0
    unadjusted: float = 0.0
    new: bool = True
    branches: set[str] = field(default_factory=set)

    def decide(self, event: WindowEvent, numbers: Numbers) -> float:
        """Takes in an event whose clock does not wrap; returns the window in bytes."""
        room_gain, fast_share = float(numbers.room_gain), float(numbers.fast_share)
        base, target, new = float(numbers.base_rtt), float(numbers.target), self.new
        if new:
            self.window, self.new = float(numbers.window_max), False
        self.branches = set()
        marked, lost, acked = event.marked > 0, float(sum(event.lost)), float(event.acked)
        queued = max(event.rtt - base, 0.0)
        delay = queued if event.rtt else target
        sample = max(base, queued) if lost else base * DRAINED if not marked and delay > target else delay
        self.mean = GAIN * sample + (1 - GAIN) * self.mean
        self.ignored = max(min(self.ignored, float(numbers.window_max)) - acked - lost, 0.0)
        self.arrived += acked
        self.unadjusted += acked
        self.lost |= lost > 0
        skips = (marked or lost > 0) and self.ignored > 0
        looks = not skips and event.now - self.looked > base + target
        hard = self.lost or delay > numbers.quick_delay
        adapts = looks and not new and hard and self.arrived < numbers.quick_gate
        if adapts:
            self.window, self.ignored, self.lost = self._bounded(self.arrived, numbers), float(event.in_flight), False
        if looks:
            self.arrived, self.looked = 0.0, event.now
        if skips or adapts:
            self.branches.add("adapts" if adapts else "skips")
            self.pending = self.unadjusted = 0.0
            return self.window
        if lost:
            self.branches.add("loses")
            self.window = self._bounded(self.window - lost, numbers)
            return self.window
        if delay >= target and marked:
            self.branches.add("late, marked")
            self.fast, self.undelayed = False, 0.0
            if self.mean > target and event.now - self.decreased > base:
                self.branches.add("cut")
                self.window *= max(1 - GAMMA * (self.mean - target) / self.mean, 1 - LARGEST_CUT)
                self.decreased = event.now
        elif delay >= target:
            self.branches.add("fair")
            self.pending += numbers.fair * acked
        elif not marked:
            if delay < FAST_DELAY:
                self.undelayed += acked
                self.fast = self.fast or self.undelayed > self.window
            else:
                self.undelayed, self.fast = 0.0, False
            self.branches.add("fast" if self.fast else "proportional")
            if self.fast:
                self.window += acked * fast_share
            else:
                self.pending += room_gain * (target - delay) * acked
        self.window = self._bounded(self.window, numbers)
        since = event.now - self.adjusted
        if self.unadjusted > numbers.adjust or since > base:
            self.branches.add("adjusts")
            self.window += self.pending / self.window
            if since >= base:
                self.branches.add("steady")
                self.window += numbers.steady
                self.adjusted = event.now
            self.pending = self.unadjusted = 0.0
            self.window = self._bounded(self.window, numbers)
        return self.window

    @staticmethod
    def _bounded(window: float, numbers: Numbers) -> float:
        return min(max(window, float(numbers.mtu)), float(numbers.window_max))

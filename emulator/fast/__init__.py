"""The fast path: an instruction-set simulator with the cycles of the emulated core, held to its RTL.

    run(image, "rlcc_decide", profile, blocks)       as emulator.rtl_run, some hundred times as fast
    with decider(folder, "ibex-small") as engine:    one engine for the network simulator

Memories of one cycle are the fastest; those that wait and caches are followed cycle by cycle (machine.py).
It interprets: nothing of the emitted code runs on the host. An engine whose cycles it cannot tell exactly is refused.
"""

from emulator.fast.decider import FastDecider, decider
from emulator.fast.run import run
from emulator.fast.timing import Timing, timing

__all__ = ["FastDecider", "Timing", "decider", "run", "timing"]

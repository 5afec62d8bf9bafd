"""The gate: what a firmware is asked, what was measured of it, and the verdict. ``gate.gate`` is the door."""

"""Cycles of a decision by cause: by part, function and line of the emitted C, on the worst path and on average."""

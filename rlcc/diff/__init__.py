"""Differences of two policies: in their parts, and in their decisions."""

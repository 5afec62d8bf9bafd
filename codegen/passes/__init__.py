"""Passes over a forest: each a pure function from a forest to an equal one, and each can be left out."""

"""Integer formats that hold for every decision, whatever it decides. Those of one interface stand in it."""

U32_MAX = 2**32 - 1

ACTION_BITS = 16
"""Fraction bits of what an action map is given, and of the action that records keep."""

FEATURE_LIMIT = 2**24
"""Integer features stay below 2^24 in magnitude: CatBoost keeps features as float32, which holds them exactly."""

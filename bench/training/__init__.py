"""Variants of a training recipe beside each other."""

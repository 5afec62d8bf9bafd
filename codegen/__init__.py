"""From an integer decision program to a firmware folder: integer-only C, its vectors, its adapter, its manifest."""

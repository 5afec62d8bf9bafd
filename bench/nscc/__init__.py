"""NSCC as rlcc emits it, next to a reference in exact rationals and one in floats: docs/results/nscc.md."""

"""Simulators of the user's: a student drives there, and what it met becomes rollouts (docs/simulators.md)."""

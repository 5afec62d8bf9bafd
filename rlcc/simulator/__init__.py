"""Simulators of the user's: a student drives there, and what it met becomes rollouts (docs/how-to/simulators.md)."""

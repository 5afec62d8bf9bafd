"""Proves that a device's adapter hands over the decision's rate and keeps its counters, for all inputs."""

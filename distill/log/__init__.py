"""Logs of others as rollouts: columns, units, order, labels."""

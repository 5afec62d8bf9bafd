"""The linked code as prover and ranges walk it: the order of its positions, its arguments' places, what can fail."""

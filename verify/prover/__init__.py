"""The prover: the linked code followed on all paths by symbols, held to the decision program."""

"""The gate: checks, measurements and the verdict. ``gate.gate`` runs it."""

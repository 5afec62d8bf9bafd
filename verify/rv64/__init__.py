"""RV64 machine code against the decision program, for all inputs: equality and safety, no cycles."""

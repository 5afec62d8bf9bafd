"""The search over a recipe's options: cycles against closeness to the teacher in the network."""

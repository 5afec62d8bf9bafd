"""Policies, students and networks as documents, what they see and set, and the program of each."""

"""Proofs about the linked machine code: equality with the decision program, safety, the exact worst case.

Nothing here knows how the code was made: it judges what the compiler wrote.
"""

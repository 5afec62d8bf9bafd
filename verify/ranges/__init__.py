"""Safety and a bound on the cycles of code that loops: ranges of words, followed through every iteration.

The proof of equality wants code without loops. A quantised network does the same for all inputs but for a few choices,
so its loops can be walked one iteration after the other with ranges in place of words.
"""

"""Common base of prover and checker: decoder, cycle costs, simulator, calibration; the form of a certificate, what
it can claim, and the words of its findings.
"""

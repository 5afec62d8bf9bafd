"""What prover and checker both rest on: decoder, cycle costs, simulator, calibration; the form of a certificate, what
it can claim, and the words of its findings.
"""

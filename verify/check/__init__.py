"""An independent check of a certificate: the firmware folder is compiled again and its machine code walked again.

Nothing of the prover is imported (tests/rlcc/test_imports.py): beside itself it rests on verify.trusted. The checker
finds nothing by itself: at which addresses which location holds which value of the decision program, the certificate
says. From each of these *cuts* all paths to the next are walked; each must arrive with what the next says.
"""

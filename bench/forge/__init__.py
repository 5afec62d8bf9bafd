"""Forgeries: is any false statement about a firmware accepted?

    python -m bench.forge                        every finished run in runs/, and subjects that it makes itself
    python -m bench.forge rl-cc --seed 2         one of them, other draws
    python -m bench.forge --documents certificate,manifest --limit 200

A subject is a finished run: teacher, recipe, student, firmware, certificate, verdict, and a signed attestation. Every
field of each document is edited in every way that its type allows (``edits``), the text is damaged (``texts``), the
file is replaced by what is no file (``files``); code and data are changed consistently and inconsistently
(``mutants``). Hashes and signatures are made right again (``seal``), so that the content decides. The commands of rlcc
judge each forgery (``judges``). An accepted one is explained by a rule of ``truth`` (equal, weaker, no claim), or is
FALSE: then the exit code is 1.
"""

"""Mutation run: would a test notice, if a line of the checker or of the gate were wrong?

    python -m bench.mutants                            all of ``targets.TARGETS``
    python -m bench.mutants verify/check/walk.py       one file
    python -m bench.mutants rlcc/gate/gate.py:90-130        some lines of it
    python -m bench.mutants --sample 200 --seed 1      so many of all, drawn

Each mutant is the source with one thing changed (``draw``). The tests are run once to see which lines each executes;
then every mutant runs in a process of its own, with the tests that execute its line, the quickest first, until one
fails (``session`` for bodies of functions, ``fresh`` for what a module does when it is imported). Those that nobody
can tell from the original stand in ``equivalent.toml``, each with its reason.
"""

ISOLATION = "RLCC_NOTHING_SHARED"
"""Environment variable that keeps tests from sharing answers (tests/plugins): an earlier answer would hide a mutant."""

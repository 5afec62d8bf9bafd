"""How many of the students there could be are proved: each of some numbered students, drawn at random, is emitted,
compiled, proved and checked, within limits of time.

    python -m bench.drawn                                  seeds 0 to 99, by the defaults of emit and verify
    python -m bench.drawn --compiler gcc                   as GCC compiles them: a page of its own
    python -m bench.drawn --wide                           students of more kinds, 0 to 39: a page of its own
    python -m bench.drawn --results drawn.jsonl            in pieces: each student's row is kept there
    python -m bench.drawn --seeds 20-39 --out FILE         some of them, or emitted otherwise (--form branches)
"""

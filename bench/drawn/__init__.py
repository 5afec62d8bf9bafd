"""How many of the students there could be are proved: each of some numbered students, drawn at random, is emitted,
compiled, proved and checked, within limits of time.

    python -m bench.drawn                                  seeds 0 to 99, by the defaults of emit and verify
    python -m bench.drawn --seeds 20-39                    some of them
    python -m bench.drawn --results drawn.jsonl            in pieces: each student's row is kept there
    python -m bench.drawn --compiler gcc --form branches   compiled or emitted otherwise
"""

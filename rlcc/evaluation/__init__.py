"""Policies side by side in many networks: who competes, their runs over processes, the table, the pictures.

contenders    what `[LABEL=]POLICY[@LATENCY]` means
runs          one run: what determines it, what it gives, the file that keeps it
grid          all runs, over processes, resumed where some are kept
summary       means and confidence over seeds; the table
pictures      goodput against latency, queue, flows, slowdown, radar
report        the evaluation artefact
"""

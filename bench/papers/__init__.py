"""The tables of PCC-RL and RL-CC beside ours: ``python -m bench.papers`` writes docs/generated/papers.md.

calibration  which short flows table 8 may have had: a page of its own, ``python -m bench.papers.calibration``
published    what the papers say
contenders   whose decisions are compared
traffic      the papers' networks
runs         one run, and the file that keeps what it gave
found        means over seeds, and how they are written
robust       table 8 with policies that no paper has: a page of its own, ``python -m bench.papers.robust``
pcc_rl       a section a table of PCC-RL
rl_cc        a section a table or figure of RL-CC, and decision latency
sections     what they share
pictures     the figures
summary      where ours wins, where it loses
page         all of it
"""

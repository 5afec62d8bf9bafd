"""The tables of PCC-RL and RL-CC beside ours: ``python -m papers`` writes papers/pages/tables.md.

calibration  which short flows table 8 may have had: a page of its own, ``python -m papers.calibration``
published    what the papers say
contenders   whose decisions are compared
traffic      the papers' networks
runs         one run, and the file that keeps what it gave
found        means over seeds, and how they are written
cluster      RL-CC's 64 hosts (figures 9 to 12): a page of its own, ``python -m papers.cluster``
ablation     RL-CC's figure 3, target and beta: the same, ``python -m papers.ablation``
target       targets that an operator turns beside those trained for: ``python -m papers.target``
telemetry    RL-CC's conjecture on queue lengths and RTTs: ``python -m papers.telemetry``
traces       PCC-RL's figures 3 and 9, flows over time: ``python -m papers.traces``
acc_marking  ACC's figures 1, 4 and 11: ``python -m papers.acc_marking``
haecn_readings  HAECN's networks read otherwise: ``python -m papers.haecn_readings``
trained      trainings for these pages
courses      runs over time, by host
robust       table 8 with policies that no paper has: a page of its own, ``python -m papers.robust``
pcc_rl       a section a table of PCC-RL
rl_cc        a section a table or figure of RL-CC, and decision latency
sections     what they share
pictures     the figures
summary      where ours wins, where it loses
page         all of it
"""

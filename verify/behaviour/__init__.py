"""Proofs of behaviour: what a decision does, decided on its integer program, which the certified machine code equals.

cells.py        the cells of a forest, and bounds of its sum over boxes of them
extremes.py     exact extremes by branch and bound over boxes
decided.py      a decision as a forest's sum and the value that it makes of it
contexts.py     one context of each kind that the trees can tell apart
steps.py        monotone, step: of any decision by one forest
circles.py      no_cycle: what a decision comes to where all that it sees stays as it is
loops.py        no_rise_above, recovers, yields, fixed_point: of one that scales what is in force
finding.py      what was decided of one property
decide.py       all properties of a firmware folder
"""

"""Networks as firmware: a teacher quantised to integers, its C, its vectors. To set the trees beside.

floats.py       what the teacher computes, layer by layer, on recorded decisions
recorded.py     recorded decisions as rows: what the teacher saw, what the firmware would see
quantise.py     int8 weights, scales, formats of the state, from the ranges that were recorded
accuracy.py     the integer network beside its teacher on decisions that it was not calibrated on
network_c.py    tables and functions of C
printer.py      the decision around them
vectors.py      inputs that saturate sums and states
quantised.py    from a teacher to a quantised policy
body.py         the policy as the emitter sees it
"""
